/**
 * The seccomp filter of user code, assembled as classic BPF from the allow list (system-calls.ts).
 *
 * A call that is not on the list fails with EPERM, as in Docker's own profile; one that a program may do without
 * fails with ENOSYS, because libraries fall back on that alone. Arguments are looked at where a call is allowed
 * in part: no new name space, no socket family but unix and the (empty) network's, no odd personality. A call
 * by the numbers of another architecture ends the process; x32, which shares the architecture's name, is refused.
 */
import { type Architecture, absentCalls, allowedCalls, newestCall } from './system-calls.ts';

/** AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64 of linux/audit.h. */
const auditNames: Readonly<Record<Architecture, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };

/** The kernel's names for Node's `x64` and `arm64` (uname(2)). */
export const machineNames: ReadonlyMap<string, string> = new Map([
  ['x64', 'x86_64'],
  ['arm64', 'aarch64'],
]);

type Instruction = readonly [code: number, whenTrue: number, whenFalse: number, value: number];

const load = (offset: number): Instruction => [0x20, 0, 0, offset];
const unlessEqual = (value: number, skip: number): Instruction => [0x15, 0, skip, value];
const whenEqual = (value: number, skip: number): Instruction => [0x15, skip, 0, value];
const whenAbove = (value: number, skip: number): Instruction => [0x25, skip, 0, value];
const unlessAtLeast = (value: number, skip: number): Instruction => [0x35, 0, skip, value];
const unlessAnyBit = (bits: number, skip: number): Instruction => [0x45, 0, skip, bits];
const give = (result: number): Instruction => [0x06, 0, 0, result];

const allow = give(0x7fff0000);
const fail = (errno: number): Instruction => give(0x00050000 | errno);
const notPermitted = fail(1);
const notImplemented = fail(38);
const killProcess = give(0x80000000);

/** Offsets in struct seccomp_data; of an argument the low half, which is all that these calls read. */
const numberAt = load(0);
const architectureAt = load(4);
const argumentAt = (index: number): Instruction => load(16 + 8 * index);

const x32Bit = 0x4000_0000;
/** CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET. */
const newSpaces = 0x7e02_0000;
/** AF_UNIX, AF_INET, AF_INET6. */
const families = [1, 2, 10];
const netlink = 16;
/** NETLINK_ROUTE, for lists of interfaces. */
const routes = 0;
/** PER_LINUX and PER_LINUX32, each as it is and with UNAME26; and the question which one it is. */
const personalities = [0, 8, 0x2_0000, 0x2_0008, 0xffff_ffff];

/** The filter for one processor, in the bytes that `bwrap --seccomp` and prctl(2) read. */
export const seccompFilter = (architecture: Architecture): Buffer => {
  const calls = allowedCalls(architecture);
  const { clone = 0, socket = 0, socketpair = 0, personality = 0, ...free } = calls;
  return encode([
    architectureAt,
    whenEqual(auditNames[architecture], 1),
    killProcess,
    numberAt,
    unlessAtLeast(x32Bit, 1),
    notPermitted,
    ...onCall(clone, [argumentAt(0), unlessAnyBit(newSpaces, 1), notPermitted, allow]),
    ...onCall(socket, familyCheck),
    ...onCall(socketpair, familyCheck),
    ...onCall(personality, [argumentAt(0), ...allowEach(personalities), notPermitted]),
    ...Object.values(absentCalls(architecture)).flatMap((number) => onCall(number, [notImplemented])),
    ...rangesOf(Object.values(free)).flatMap(allowRange),
    unlessAtLeast(newestCall + 1, 1),
    notImplemented,
    notPermitted,
  ]);
};

const allowEach = (values: readonly number[]): readonly Instruction[] =>
  values.flatMap((value) => [unlessEqual(value, 1), allow]);

const familyCheck: readonly Instruction[] = [
  argumentAt(0),
  ...allowEach(families),
  unlessEqual(netlink, 3),
  argumentAt(2),
  ...allowEach([routes]),
  notPermitted,
];

/** A block that always gives a result. */
const onCall = (number: number, block: readonly Instruction[]): readonly Instruction[] => [
  unlessEqual(number, block.length),
  ...block,
];

type Range = { readonly first: number; readonly last: number };

const rangesOf = (numbers: readonly number[]): readonly Range[] => {
  const known = new Set(numbers);
  const sorted = numbers.toSorted((one, other) => one - other);
  const lasts = sorted.filter((number) => !known.has(number + 1));
  return sorted
    .filter((number) => !known.has(number - 1))
    .map((first, index) => ({ first, last: lasts[index] ?? first }));
};

/** Ranges come in order, so a number below this one is in none. */
const allowRange = ({ first, last }: Range): readonly Instruction[] => [
  whenAbove(last, 3),
  unlessAtLeast(first, 1),
  allow,
  notPermitted,
];

const encode = (program: readonly Instruction[]): Buffer => {
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(([code, whenTrue, whenFalse, value], index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(whenTrue, index * 8 + 2);
    bytes.writeUInt8(whenFalse, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  });
  return bytes;
};
