/**
 * The seccomp filter of user code, assembled as classic BPF: what a namespace alone does not cover.
 *
 * It refuses new namespaces and mounts, other socket families than unix and the (empty) network's, and the
 * kernel interfaces that escapes are made of. Everything else is allowed. Numbers: the kernel's
 * arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h.
 */
type Architecture = { readonly audit: number; readonly calls: Readonly<Record<string, number>> };

const sharedCalls = {
  pidfd_send_signal: 424,
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  mount_setattr: 442,
};

const architectures: Readonly<Record<string, Architecture>> = {
  x64: {
    audit: 0xc000003e,
    calls: {
      ...sharedCalls,
      socket: 41,
      clone: 56,
      clone3: 435,
      unshare: 272,
      setns: 308,
      mount: 165,
      umount2: 166,
      pivot_root: 155,
      swapon: 167,
      init_module: 175,
      delete_module: 176,
      finit_module: 313,
      kexec_load: 246,
      kexec_file_load: 320,
      add_key: 248,
      request_key: 249,
      keyctl: 250,
      perf_event_open: 298,
      name_to_handle_at: 303,
      open_by_handle_at: 304,
      bpf: 321,
      userfaultfd: 323,
    },
  },
  arm64: {
    audit: 0xc00000b7,
    calls: {
      ...sharedCalls,
      socket: 198,
      clone: 220,
      clone3: 435,
      unshare: 97,
      setns: 268,
      mount: 40,
      umount2: 39,
      pivot_root: 41,
      swapon: 224,
      init_module: 105,
      delete_module: 106,
      finit_module: 273,
      kexec_load: 104,
      kexec_file_load: 294,
      add_key: 217,
      request_key: 218,
      keyctl: 219,
      perf_event_open: 241,
      name_to_handle_at: 264,
      open_by_handle_at: 265,
      bpf: 280,
      userfaultfd: 282,
    },
  },
};

type Instruction = readonly [code: number, whenTrue: number, whenFalse: number, value: number];

const load = (offset: number): Instruction => [0x20, 0, 0, offset];
const skipUnlessEqual = (value: number, skip: number): Instruction => [0x15, 0, skip, value];
const skipUnlessSet = (bits: number, skip: number): Instruction => [0x45, 0, skip, bits];
const skipUnlessAtLeast = (value: number, skip: number): Instruction => [0x35, 0, skip, value];
const give = (result: number): Instruction => [0x06, 0, 0, result];

const allow = 0x7fff0000;
const refuse = (errno: number): number => 0x00050000 | errno;
const killProcess = 0x80000000;
const notPermitted = refuse(1);
const notImplemented = refuse(38);

const numberAt = load(0);
const architectureAt = load(4);
const firstArgumentAt = load(16);
const newUserNamespace = 0x1000_0000;
/** Calls of the x32 ABI share the architecture's number and would slip past the table. */
const x32Bit = 0x4000_0000;
/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK: the last three meet an empty network. */
const familiesAllowed = [1, 2, 10, 16];

/** The filter for this machine's processor, in the bytes that bubblewrap's `--seccomp` reads. */
export const seccompFilter = (processor: string): Buffer => {
  const architecture = architectures[processor];
  if (architecture === undefined)
    throw new Error(`there is no system call filter for ${processor} processors`);
  return encode(instructions(architecture));
};

const instructions = ({ audit, calls }: Architecture): readonly Instruction[] => {
  const { socket = -1, clone = -1, clone3 = -1, ...refused } = calls;
  return [
    architectureAt,
    [0x15, 1, 0, audit],
    give(killProcess),
    numberAt,
    skipUnlessAtLeast(x32Bit, 1),
    give(notPermitted),
    ...Object.values(refused).flatMap((number) => [skipUnlessEqual(number, 1), give(notPermitted)]),
    // glibc falls back to clone, whose flags can be read here; those of clone3 lie behind a pointer.
    skipUnlessEqual(clone3, 1),
    give(notImplemented),
    skipUnlessEqual(clone, 3),
    firstArgumentAt,
    skipUnlessSet(newUserNamespace, 1),
    give(notPermitted),
    numberAt,
    skipUnlessEqual(socket, familiesAllowed.length * 2 + 2),
    firstArgumentAt,
    ...familiesAllowed.flatMap((family) => [skipUnlessEqual(family, 1), give(allow)]),
    give(notPermitted),
    give(allow),
  ];
};

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
