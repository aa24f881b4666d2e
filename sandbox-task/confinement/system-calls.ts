/**
 * The system calls of user code: an allow list, with a reason for each group.
 *
 * A call in no group is refused: tracing other processes or reading their memory and descriptors, mounts and
 * name spaces, kernel modules, keys, BPF, performance events, io_uring, user faults, quotas, the kernel's log,
 * the clock, NUMA policy, handles of files. Numbers: the kernel's arch/x86/entry/syscalls/syscall_64.tbl and
 * include/uapi/asm-generic/unistd.h; a call that one of the two does not have shows a hyphen.
 * Guarantees W3, W7 and W9 of docs/spec/sandbox.md.
 */
export type Architecture = 'x64' | 'arm64';

type Group = {
  readonly reason: string;
  /** `name x64 arm64`, separated by commas. */
  readonly calls: string;
};

const allowed: readonly Group[] = [
  {
    reason: 'Reading and writing through descriptors.',
    calls: `
      read 0 63, write 1 64, readv 19 65, writev 20 66, pread64 17 67, pwrite64 18 68, preadv 295 69,
      pwritev 296 70, preadv2 327 286, pwritev2 328 287, lseek 8 62, close 3 57, close_range 436 436,
      dup 32 23, dup2 33 -, dup3 292 24, fcntl 72 25, ioctl 16 29, flock 73 32, fsync 74 82, fdatasync 75 83,
      sync 162 81, syncfs 306 267, sync_file_range 277 84, sendfile 40 71, splice 275 76, tee 276 77,
      vmsplice 278 75, copy_file_range 326 285, readahead 187 213, fadvise64 221 223, fallocate 285 47,
      ftruncate 77 46, truncate 76 45, pipe 22 -, pipe2 293 59`,
  },
  {
    reason: 'Names, folders and attributes of files; the mounts decide which exist.',
    calls: `
      open 2 -, openat 257 56, openat2 437 437, creat 85 -, access 21 -, faccessat 269 48, faccessat2 439 439,
      stat 4 -, fstat 5 80, lstat 6 -, newfstatat 262 79, statx 332 291, statfs 137 43, fstatfs 138 44,
      readlink 89 -, readlinkat 267 78, getdents 78 -, getdents64 217 61, getcwd 79 17, chdir 80 49,
      fchdir 81 50, mkdir 83 -, mkdirat 258 34, rmdir 84 -, unlink 87 -, unlinkat 263 35, rename 82 -,
      renameat 264 38, renameat2 316 276, link 86 -, linkat 265 37, symlink 88 -, symlinkat 266 36,
      mknod 133 -, mknodat 259 33, chmod 90 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452, chown 92 -,
      fchown 93 55, lchown 94 -, fchownat 260 54, umask 95 166, utime 132 -, utimes 235 -, futimesat 261 -,
      utimensat 280 88, cachestat 451 451`,
  },
  {
    reason: 'Extended attributes, which `cp -a`, `tar` and `git` ask for.',
    calls: `
      getxattr 191 8, lgetxattr 192 9, fgetxattr 193 10, listxattr 194 11, llistxattr 195 12,
      flistxattr 196 13, setxattr 188 5, lsetxattr 189 6, fsetxattr 190 7, removexattr 197 14,
      lremovexattr 198 15, fremovexattr 199 16, getxattrat 464 464, setxattrat 463 463, listxattrat 465 465,
      removexattrat 466 466`,
  },
  {
    reason: 'Waiting for descriptors, files and events.',
    calls: `
      select 23 -, pselect6 270 72, poll 7 -, ppoll 271 73, epoll_create 213 -, epoll_create1 291 20,
      epoll_ctl 233 21, epoll_wait 232 -, epoll_pwait 281 22, epoll_pwait2 441 441, eventfd 284 -,
      eventfd2 290 19, signalfd 282 -, signalfd4 289 74, inotify_init 253 -, inotify_init1 294 26,
      inotify_add_watch 254 27, inotify_rm_watch 255 28, io_setup 206 0, io_destroy 207 1, io_submit 209 2,
      io_cancel 210 3, io_getevents 208 4, io_pgetevents 333 292`,
  },
  {
    reason: 'Memory of the own process.',
    calls: `
      mmap 9 222, munmap 11 215, mprotect 10 226, mremap 25 216, msync 26 227, madvise 28 233, mincore 27 232,
      brk 12 214, mlock 149 228, mlock2 325 284, munlock 150 229, mlockall 151 230, munlockall 152 231,
      membarrier 324 283, memfd_create 319 279, mseal 462 462, pkey_alloc 330 289, pkey_free 331 290,
      pkey_mprotect 329 288, map_shadow_stack 453 453`,
  },
  {
    reason: 'Processes, threads and their ends. The flags of `clone` are looked at besides.',
    calls: `
      clone 56 220, fork 57 -, vfork 58 -, execve 59 221, execveat 322 281, exit 60 93, exit_group 231 94,
      wait4 61 260, waitid 247 95, kill 62 129, tkill 200 130, tgkill 234 131, pidfd_open 434 434,
      set_tid_address 218 96, set_robust_list 273 99, get_robust_list 274 100, rseq 334 293, futex 202 98,
      futex_waitv 449 449, futex_wake 454 454, futex_wait 455 455, futex_requeue 456 456, arch_prctl 158 -,
      set_thread_area 205 -, get_thread_area 211 -, restart_syscall 219 128, prctl 157 167, seccomp 317 277,
      landlock_create_ruleset 444 444, landlock_add_rule 445 445, landlock_restrict_self 446 446`,
  },
  {
    reason: 'Signals.',
    calls: `
      rt_sigaction 13 134, rt_sigprocmask 14 135, rt_sigreturn 15 139, rt_sigpending 127 136,
      rt_sigtimedwait 128 137, rt_sigqueueinfo 129 138, rt_tgsigqueueinfo 297 240, rt_sigsuspend 130 133,
      sigaltstack 131 132, pause 34 -, alarm 37 -`,
  },
  {
    reason: 'Identity of a process. Other ids than its own do not exist here.',
    calls: `
      getpid 39 172, getppid 110 173, gettid 186 178, getuid 102 174, geteuid 107 175, getgid 104 176,
      getegid 108 177, getresuid 118 148, getresgid 120 150, getgroups 115 158, setuid 105 146, setgid 106 144,
      setreuid 113 145, setregid 114 143, setresuid 117 147, setresgid 119 149, setgroups 116 159,
      setfsuid 122 151, setfsgid 123 152, getpgid 121 155, setpgid 109 154, getpgrp 111 -, getsid 124 156,
      setsid 112 157, capget 125 90, capset 126 91`,
  },
  {
    reason: 'Limits, priorities and use.',
    calls: `
      getrlimit 97 163, setrlimit 160 164, prlimit64 302 261, getrusage 98 165, times 100 153,
      getpriority 140 141, setpriority 141 140, sched_yield 24 124, sched_getaffinity 204 123,
      sched_setaffinity 203 122, sched_getparam 143 121, sched_setparam 142 118, sched_getscheduler 145 120,
      sched_setscheduler 144 119, sched_get_priority_max 146 125, sched_get_priority_min 147 126,
      sched_rr_get_interval 148 127, sched_getattr 315 275, sched_setattr 314 274, ioprio_get 252 31,
      ioprio_set 251 30, getcpu 309 168, sysinfo 99 179, uname 63 160`,
  },
  {
    reason: 'Clocks and timers; none can be set.',
    calls: `
      time 201 -, gettimeofday 96 169, clock_gettime 228 113, clock_getres 229 114, clock_nanosleep 230 115,
      nanosleep 35 101, getitimer 36 102, setitimer 38 103, timer_create 222 107, timer_settime 223 110,
      timer_gettime 224 108, timer_getoverrun 225 109, timer_delete 226 111, timerfd_create 283 85,
      timerfd_settime 286 86, timerfd_gettime 287 87`,
  },
  {
    reason: 'Sockets, of the families below: to itself and, over `/ports/`, from outside.',
    calls: `
      socket 41 198, socketpair 53 199, bind 49 200, listen 50 201, accept 43 202, accept4 288 242,
      connect 42 203, getsockname 51 204, getpeername 52 205, getsockopt 55 209, setsockopt 54 208,
      sendto 44 206, recvfrom 45 207, sendmsg 46 211, recvmsg 47 212, sendmmsg 307 269, recvmmsg 299 243,
      shutdown 48 210`,
  },
  {
    reason: 'Random bytes.',
    calls: `
      getrandom 318 278`,
  },
  {
    reason: 'Compilers and old binaries ask it; only harmless values pass.',
    calls: `
      personality 135 92`,
  },
];

/** Answered like calls that this kernel does not have, so that programs go another way. */
const absent: readonly Group[] = [
  {
    reason: 'Its flags lie behind a pointer, where a filter cannot look; glibc falls back to `clone`.',
    calls: `
      clone3 435 435`,
  },
  {
    reason: 'System V IPC: a segment outlives the call that made it and would count against every later one.',
    calls: `
      shmget 29 194, shmat 30 196, shmctl 31 195, shmdt 67 197, semget 64 190, semop 65 193,
      semtimedop 220 192, semctl 66 191, msgget 68 186, msgsnd 69 189, msgrcv 70 188, msgctl 71 187`,
  },
  {
    reason: 'POSIX message queues outlive their call, too.',
    calls: `
      mq_open 240 180, mq_unlink 241 181, mq_timedsend 242 182, mq_timedreceive 243 183, mq_notify 244 184,
      mq_getsetattr 245 185`,
  },
];

/** The highest number of the tables: programs ask for later calls and do without them, so those are absent too. */
export const newestCall = 467;

type Calls = Readonly<Record<string, number>>;

const callsOf =
  (groups: readonly Group[]) =>
  (architecture: Architecture): Calls =>
    Object.fromEntries(
      groups
        .flatMap(({ calls }) => calls.split(','))
        .map((call) => call.trim().split(' '))
        .map(([name = '', x64, arm64]) => [name, architecture === 'x64' ? x64 : arm64] as const)
        .filter(([, number]) => number !== '-')
        .map(([name, number]) => [name, Number(number)]),
    );

export const allowedCalls = callsOf(allowed);
export const absentCalls = callsOf(absent);
