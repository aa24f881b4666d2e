/** The filter's answer to every number of a system call, by running its program as the kernel does. */
import { expect, test } from 'vitest';
import { seccompFilter } from './filter.ts';

type SystemCall = {
  readonly number: number;
  readonly audit?: number;
  readonly arguments?: readonly number[];
};

const x64 = 0xc000003e;
const arm64 = 0xc00000b7;
const i386 = 0x40000003;
const results: Readonly<Record<number, string>> = {
  2147418112: 'allowed',
  327681: 'EPERM',
  327718: 'ENOSYS',
  2147483648: 'killed',
};

/** Classic BPF, as far as seccomp(2) filters use it here (linux/bpf_common.h). */
const run = (program: Buffer, { number, audit = x64, arguments: given = [] }: SystemCall): string => {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number >>> 0, 0);
  data.writeUInt32LE(audit, 4);
  given.forEach((value, index) => {
    data.writeBigUInt64LE(BigInt(value), 16 + 8 * index);
  });
  let accumulator = 0;
  for (let at = 0; at < program.length; at += 8) {
    const value = program.readUInt32LE(at + 4);
    const jump = (isTrue: boolean): void => {
      at += 8 * program.readUInt8(at + (isTrue ? 2 : 3));
    };
    switch (program.readUInt16LE(at)) {
      case 0x20:
        accumulator = data.readUInt32LE(value);
        break;
      case 0x15:
        jump(accumulator === value);
        break;
      case 0x25:
        jump(accumulator > value);
        break;
      case 0x35:
        jump(accumulator >= value);
        break;
      case 0x45:
        jump((accumulator & value) !== 0);
        break;
      case 0x06:
        return results[value] ?? `0x${value.toString(16)}`;
      default:
        throw new Error(`no such instruction at ${at}`);
    }
  }
  throw new Error('the program has no end');
};

const onX64 = (number: number, ...given: number[]): string =>
  run(seccompFilter('x64'), { number, arguments: given });
const onArm64 = (number: number, ...given: number[]): string =>
  run(seccompFilter('arm64'), { number, audit: arm64, arguments: given });

/** Those that escapes are made of, by group; first the number on x64, then on arm64. */
const refused = {
  'tracing and other memory': {
    ptrace: [101, 117],
    process_vm_readv: [310, 270],
    process_vm_writev: [311, 271],
  },
  'other descriptors': { pidfd_getfd: [438, 438], pidfd_send_signal: [424, 424], kcmp: [312, 272] },
  'kernel programs': { bpf: [321, 280], perf_event_open: [298, 241], userfaultfd: [323, 282] },
  io_uring: { io_uring_setup: [425, 425], io_uring_enter: [426, 426], io_uring_register: [427, 427] },
  keys: { add_key: [248, 217], request_key: [249, 218], keyctl: [250, 219] },
  mounts: { mount: [165, 40], umount2: [166, 39], pivot_root: [155, 41], chroot: [161, 51] },
  'mounts by descriptor': {
    open_tree: [428, 428],
    move_mount: [429, 429],
    fsopen: [430, 430],
    fsmount: [432, 432],
  },
  'more mounts': {
    fsconfig: [431, 431],
    fspick: [433, 433],
    mount_setattr: [442, 442],
    open_tree_attr: [467, 467],
  },
  'name spaces': { unshare: [272, 97], setns: [308, 268] },
  'handles of files': { name_to_handle_at: [303, 264], open_by_handle_at: [304, 265] },
  'the machine': {
    acct: [163, 89],
    syslog: [103, 116],
    reboot: [169, 142],
    swapon: [167, 224],
    sethostname: [170, 161],
  },
  quotas: { quotactl: [179, 60], quotactl_fd: [443, 443], fanotify_init: [300, 262] },
  modules: {
    init_module: [175, 105],
    finit_module: [313, 273],
    delete_module: [176, 106],
    kexec_load: [246, 104],
  },
  'hidden memory': { memfd_secret: [447, 447], process_madvise: [440, 440], process_mrelease: [448, 448] },
  clock: { settimeofday: [164, 170], clock_settime: [227, 112], clock_adjtime: [305, 266] },
} as const;

const named = Object.values(refused).flatMap((calls): (readonly [string, readonly [number, number]])[] =>
  Object.entries(calls),
);

test.each(named)('%s is refused on both processors', (_name, [number, armNumber]) => {
  expect([onX64(number), onArm64(armNumber)]).toEqual(['EPERM', 'EPERM']);
});

test('calls of x86 alone are refused there', () => {
  // modify_ldt, iopl, ioperm, uselib, sysfs, ustat
  expect([154, 172, 173, 134, 139, 136].map((number) => onX64(number))).toEqual(Array(6).fill('EPERM'));
});

test('System V IPC, message queues, clone3 and calls of later kernels are absent', () => {
  const absentOnX64 = [
    29, 30, 31, 67, 64, 65, 220, 66, 68, 69, 70, 71, 240, 241, 242, 243, 244, 245, 435, 468, 5000,
  ];
  const absentOnArm64 = [
    194, 196, 195, 197, 190, 193, 192, 191, 186, 189, 188, 187, 180, 185, 435, 468, 5000,
  ];
  expect(new Set(absentOnX64.map((number) => onX64(number)))).toEqual(new Set(['ENOSYS']));
  expect(new Set(absentOnArm64.map((number) => onArm64(number)))).toEqual(new Set(['ENOSYS']));
});

test('a program can read, write, start another, wait and end', () => {
  // read, write, openat, mmap, execve, wait4, exit_group, rt_sigreturn, futex, memfd_create, pidfd_open
  expect(new Set([0, 1, 257, 9, 59, 61, 231, 15, 202, 319, 434].map((number) => onX64(number)))).toEqual(
    new Set(['allowed']),
  );
  expect(
    new Set([63, 64, 56, 222, 221, 260, 94, 139, 98, 279, 434].map((number) => onArm64(number))),
  ).toEqual(new Set(['allowed']));
});

test('exactly this many of 512 numbers are allowed', () => {
  const count = (ask: (number: number) => string) =>
    Object.fromEntries(
      Object.entries(
        Object.groupBy(
          Array.from({ length: 512 }, (_, number) => ask(number)),
          (answer) => answer,
        ),
      ).map(([answer, all = []]) => [answer, all.length]),
    );
  expect(count((number) => onX64(number))).toEqual({ allowed: 271, EPERM: 178, ENOSYS: 63 });
  expect(count((number) => onArm64(number))).toEqual({ allowed: 233, EPERM: 216, ENOSYS: 63 });
});

test('the numbers of another architecture end the process, and x32 is refused', () => {
  const program = seccompFilter('x64');
  expect(run(program, { number: 0, audit: i386 })).toBe('killed');
  expect(run(program, { number: 63, audit: arm64 })).toBe('killed');
  expect(run(seccompFilter('arm64'), { number: 0, audit: x64 })).toBe('killed');
  expect(run(seccompFilter('arm64'), { number: 3, audit: 0x40000028 })).toBe('killed');
  expect([0x40000000, 0x40000000 + 520, 0xffffffff].map((number) => onX64(number))).toEqual(
    Array(3).fill('EPERM'),
  );
});

test('clone creates threads and processes, and no name space', () => {
  const thread = 0x3d0f00;
  for (const [ask, number] of [
    [onX64, 56],
    [onArm64, 220],
  ] as const) {
    expect([ask(number, thread), ask(number, 17)]).toEqual(['allowed', 'allowed']);
    const spaces = [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000];
    expect(spaces.map((space) => ask(number, space | 17))).toEqual(Array(7).fill('EPERM'));
  }
});

test('sockets are unix, internet or the list of routes', () => {
  for (const [ask, number] of [
    [onX64, 41],
    [onX64, 53],
    [onArm64, 198],
    [onArm64, 199],
  ] as const) {
    expect([1, 2, 10].map((family) => ask(number, family, 1, 0))).toEqual(Array(3).fill('allowed'));
    expect([ask(number, 16, 3, 0), ask(number, 16, 3, 12)]).toEqual(['allowed', 'EPERM']);
    // AF_PACKET, AF_ALG, AF_VSOCK, AF_XDP, AF_BLUETOOTH, AF_CAN, AF_TIPC, AF_RDS, AF_KEY, AF_SMC
    expect([17, 38, 40, 44, 31, 29, 30, 21, 15, 43].map((family) => ask(number, family))).toEqual(
      Array(10).fill('EPERM'),
    );
  }
});

test('personality keeps address randomization', () => {
  expect([0, 0xffffffff, 0x20000].map((value) => onX64(135, value))).toEqual(Array(3).fill('allowed'));
  // ADDR_NO_RANDOMIZE, READ_IMPLIES_EXEC, MMAP_PAGE_ZERO
  expect([0x40000, 0x400000, 0x100000].map((value) => onX64(135, value))).toEqual(Array(3).fill('EPERM'));
});
