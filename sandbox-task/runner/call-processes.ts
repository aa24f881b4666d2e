/**
 * All processes of one call: found again in any form, killed, and their processor time.
 *
 * The mark is the hard RLIMIT_LOCKS, a number of its own per call. The kernel has not used that limit
 * since 2.4 (getrlimit(2)), hands it down through fork, exec and setsid, and lets no unprivileged process raise it. A
 * variable is lost to `env -i`, a descriptor to `close_fds`, the parent link to a double fork; a cgroup per call cannot be
 * had on Fargate. Code that lowers its own mark to hide gains a background process, which every user has anyway.
 */
import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import type { KillCause, RunnerSettings } from '../wire/messages.ts';

/**
 * No two runners that see the same `/proc` have a mark in common: it holds the runner's pid, which is at most 2^22
 * (proc(5)). Later marks are lower, since an interpreter takes a new one with each call and could not raise it.
 */
export const markOf = (callId: number): number => (process.pid + 1) * callsMax - callId;
const callsMax = 2 ** 30;
export const markOption = (mark: number): string => `--locks=${mark}:${mark}`;

/** A killed call must vanish within this time, in milliseconds: a busy machine takes a while to end its processes. */
const vanishMsMax = 5000;
const retryMs = 5;

type Reach = {
  /** Lives on: the interpreter of the call. */
  readonly spared?: number | undefined;
  /** The first process, which has no mark in its first moment. */
  readonly first?: ChildProcess | undefined;
};

/**
 * True when none is left but `spared`. They are stopped before they are killed, so that a fork bomb cannot
 * outrun the walk.
 */
export const killMarked = async (mark: number, { spared, first }: Reach = {}): Promise<boolean> => {
  const deadline = performance.now() + vanishMsMax;
  const find = (): readonly number[] => [
    ...new Set([...findMarked(mark).filter((pid) => pid !== spared), ...livingPidOf(first)]),
  ];
  for (;;) {
    stopAll(find, deadline);
    const pids = find();
    if (pids.length === 0) return true;
    signalAll(pids, 'SIGKILL');
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
};

const livingPidOf = (child: ChildProcess | undefined): readonly number[] =>
  child?.pid === undefined || child.exitCode !== null || child.signalCode !== null ? [] : [child.pid];

/** The end of a call before its time: it is killed for the first cause alone. */
export const openKill = (mark: number, first: () => ChildProcess | undefined) => {
  let cause: KillCause | null = null;
  let allEnded: Promise<boolean> = Promise.resolve(true);
  return {
    kill: (why: KillCause): void => {
      if (cause !== null) return;
      cause = why;
      allEnded = killMarked(mark, { first: first() });
    },
    cause: (): KillCause | null => cause,
    /** As `killMarked`; true where nothing was killed. */
    allEnded: (): Promise<boolean> => allEnded,
  };
};

/** Asks all of it to end, and kills what has not ended in time. The first process may have lowered its mark. */
export const endMarked = async (mark: number, first: ChildProcess | undefined): Promise<boolean> => {
  const deadline = performance.now() + endMsMax;
  const asked = new Set<number>();
  while (performance.now() < deadline) {
    const pids = [...new Set([...findMarked(mark), ...livingPidOf(first)])];
    if (pids.length === 0) return true;
    const fresh = pids.filter((pid) => !asked.has(pid));
    signalAll(fresh, 'SIGTERM');
    // A stopped process takes the signal when it continues.
    signalAll(fresh, 'SIGCONT');
    for (const pid of fresh) asked.add(pid);
    await new Promise((resolve) => setTimeout(resolve, endLookMs));
  }
  return killMarked(mark, { first });
};

/** A process that is asked to end has this long, in milliseconds. */
const endMsMax = 2000;
const endLookMs = 20;

const stopAll = (find: () => readonly number[], deadline: number): void => {
  const stopped = new Set<number>();
  for (;;) {
    const fresh = find().filter((pid) => !stopped.has(pid));
    if (fresh.length === 0 || performance.now() > deadline) return;
    signalAll(fresh, 'SIGSTOP');
    for (const pid of fresh) stopped.add(pid);
  }
};

const signalAll = (pids: readonly number[], signal: NodeJS.Signals): void => {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It ended by itself in between.
    }
  }
};

const findMarked = (mark: number): readonly number[] =>
  allPids().filter((pid) => readMark(pid) === mark && !isZombie(pid));

const allPids = (): readonly number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid > 1);

/** The hard limit in a line of `/proc/<pid>/limits`: name, soft, hard, unit (proc(5)). */
const readMark = (pid: number): number | undefined => {
  const hard = /^Max file locks\s+\S+\s+(\d+)/m.exec(readProc(pid, 'limits'))?.[1];
  return hard === undefined ? undefined : Number(hard);
};

const isZombie = (pid: number): boolean => statFields(pid)[0] === 'Z';

/** The fields of `/proc/<pid>/stat` after the name, which may itself hold spaces and brackets: the first is the state. */
const statFields = (pid: number): readonly string[] => {
  const stat = readProc(pid, 'stat');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
};

const readProc = (pid: number, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
};

/** The clock tick of `/proc/<pid>/stat`: 100 per second on every Linux we run on (proc(5), sysconf(3)). */
const millisecondsPerTick = 10;

let readMs = 0;

/**
 * The processor time of the child that has just ended and of the children that it waited for: the kernel adds it to ours
 * when a child is reaped, and Node says so right after, so the calls that still run are not in it. Processes
 * that no parent waited for do not count: background processes, and the rest of a killed call. Of two calls reaped
 * together the first gets both times.
 */
export const readNewChildrenCpuMs = (): number => {
  const sum = childrenCpuMs();
  const fresh = sum - readMs;
  readMs = sum;
  return fresh;
};

/** The processor time of all children that ended so far: fields 16 and 17 of `/proc/self/stat` (proc(5)). */
const childrenCpuMs = (): number => {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  return sumOf(
    stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(13, 15),
  );
};

/** The time of a running process and of the children that it waited for: fields 14 to 17. */
export const cpuMsOf = (pid: number): number => sumOf(statFields(pid).slice(11, 15));

const sumOf = (ticks: readonly string[]): number =>
  ticks.reduce((sum, text) => sum + Number(text), 0) * millisecondsPerTick;

const watchMs = 200;
/** The call is killed a little below the kernel's limit, so that there is room to say why. */
const processesReserve = 24;
const pageBytes = 4096;

/** A running call, by the mark of its processes. */
type WatchedCall = { readonly mark: number; readonly kill: (cause: KillCause) => void };

/** Returns the check, for a call that ends. */
export const watchProcesses = (
  settings: RunnerSettings,
  calls: () => readonly WatchedCall[],
): (() => void) => {
  const tasksMax = settings.processesMax - processesReserve;
  const bytesMax = (settings.memoryMbMax ?? Number.POSITIVE_INFINITY) * 1_048_576;
  const check = (): void => {
    const running = calls();
    if (running.length === 0) return;
    const usage = readUsage();
    if (sumUsage(usage, 'tasks') >= tasksMax)
      killLargest(running, usage, { by: 'tasks', cause: 'processes' });
    if (sumUsage(usage, 'bytes') >= bytesMax) killLargest(running, usage, { by: 'bytes', cause: 'memory' });
  };
  setInterval(check, watchMs).unref();
  return check;
};

type Measure = 'tasks' | 'bytes';
type Usage = Readonly<Record<Measure, number>> & { readonly mark: number | undefined };

/** Threads and resident pages are fields 20 and 24 of `/proc/<pid>/stat`, the 18th and 22nd after the name (proc(5)). */
const readUsage = (): readonly Usage[] =>
  allPids()
    .filter((pid) => pid !== process.pid)
    .map((pid) => {
      const fields = statFields(pid);
      return {
        mark: readMark(pid),
        tasks: Number(fields[17] ?? 0),
        bytes: Number(fields[21] ?? 0) * pageBytes,
      };
    });

const sumUsage = (usage: readonly Usage[], by: Measure): number =>
  usage.reduce((total, process) => total + process[by], 0);

const killLargest = (
  calls: readonly WatchedCall[],
  usage: readonly Usage[],
  { by, cause }: { by: Measure; cause: KillCause },
): void => {
  const mark = largestMark(usage, by);
  if (mark === undefined) return;
  const call = calls.find((running) => running.mark === mark);
  if (call === undefined) void killMarked(mark);
  else call.kill(cause);
};

const largestMark = (usage: readonly Usage[], by: Measure): number | undefined => {
  const groups = Object.entries(Object.groupBy(usage, ({ mark }) => mark ?? 'none'));
  const marked = groups.filter(([mark]) => mark !== 'none');
  const held = marked.map(([mark, group = []]) => ({ mark: Number(mark), held: sumUsage(group, by) }));
  return held.toSorted((one, other) => other.held - one.held)[0]?.mark;
};
