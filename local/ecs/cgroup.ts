/**
 * The cgroup of one sandbox: memory, CPU and process limits held by the kernel, on cgroup v1 or v2.
 *
 * Needs root. Without a hierarchy that it may write to there is no cgroup and the limits are best effort.
 * Guarantee W6 of docs/spec/sandbox.md.
 */
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

type CgroupLimits = {
  readonly memoryMb: number;
  readonly cpus: number;
  readonly processesMax: number;
};

export type Cgroup = {
  /** A process that writes its pid here is under the limits. */
  readonly joinFiles: readonly string[];
  /** The folder with the memory counters. */
  readonly memoryFolder: string;
  readonly oomKills: () => number;
  /** Kills its processes until none is left; never rejects. */
  readonly killAll: () => Promise<void>;
  readonly remove: () => Promise<void>;
};

export type CgroupHierarchy = {
  readonly open: (name: string, limits: CgroupLimits) => Cgroup;
  /** Removes the groups that a killed predecessor left under this prefix, with the processes in them. */
  readonly sweep: (prefix: string) => Promise<void>;
};

const root = '/sys/fs/cgroup';
const parent = 'sallyport';
const cpuPeriodUs = 100_000;
const removeTriesMax = 50;
const removePauseMs = 20;

export const findHierarchy = (): CgroupHierarchy | undefined => {
  if (process.getuid?.() !== 0) return undefined;
  if (existsSync(join(root, 'cgroup.controllers')))
    return isWritable(root) ? { open: openUnified, sweep: sweep([root]) } : undefined;
  const controllers = ['memory', 'cpu', 'pids'].map((name) => join(root, name));
  return controllers.every(isWritable) ? { open: openSeparate, sweep: sweep(controllers) } : undefined;
};

const isWritable = (folder: string): boolean => {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
};

const openUnified = (name: string, { memoryMb, cpus, processesMax }: CgroupLimits): Cgroup => {
  writeFileSync(join(root, 'cgroup.subtree_control'), '+memory +cpu +pids');
  mkdirSync(join(root, parent), { recursive: true });
  writeFileSync(join(root, parent, 'cgroup.subtree_control'), '+memory +cpu +pids');
  const folder = join(root, parent, name);
  mkdirSync(folder);
  const memory = String(memoryMb * 1_048_576);
  const files = {
    'memory.max': memory,
    'memory.swap.max': '0',
    'cpu.max': `${cpus * cpuPeriodUs} ${cpuPeriodUs}`,
    'pids.max': String(processesMax),
  };
  writeLimits(folder, files);
  return {
    joinFiles: [join(folder, 'cgroup.procs')],
    memoryFolder: folder,
    oomKills: () => counter(join(folder, 'memory.events')),
    killAll: () => killAll(folder),
    remove: () => removeAll([folder]),
  };
};

const openSeparate = (name: string, { memoryMb, cpus, processesMax }: CgroupLimits): Cgroup => {
  const folderOf = (controller: string): string => join(root, controller, parent, name);
  const [memory, cpu, pids] = [folderOf('memory'), folderOf('cpu'), folderOf('pids')] as const;
  for (const folder of [memory, cpu, pids]) mkdirSync(folder, { recursive: true });
  const bytes = String(memoryMb * 1_048_576);
  writeLimits(memory, { 'memory.limit_in_bytes': bytes, 'memory.memsw.limit_in_bytes': bytes });
  writeLimits(cpu, {
    'cpu.cfs_period_us': String(cpuPeriodUs),
    'cpu.cfs_quota_us': String(cpus * cpuPeriodUs),
  });
  writeLimits(pids, { 'pids.max': String(processesMax) });
  return {
    joinFiles: [memory, cpu, pids].map((folder) => join(folder, 'cgroup.procs')),
    memoryFolder: memory,
    oomKills: () => counter(join(memory, 'memory.oom_control')),
    killAll: () => killAll(pids),
    remove: () => removeAll([memory, cpu, pids]),
  };
};

/** A kernel without swap accounting lacks those files. */
const writeLimits = (folder: string, files: Readonly<Record<string, string>>): void => {
  for (const [name, value] of Object.entries(files))
    if (existsSync(join(folder, name))) writeFileSync(join(folder, name), value);
};

/** 0 for a group that was removed. */
const counter = (file: string): number =>
  existsSync(file) ? Number(/^oom_kill (\d+)/m.exec(readFileSync(file, 'latin1'))?.[1] ?? 0) : 0;

const killAll = async (folder: string): Promise<void> => {
  for (let attempt = 1; attempt <= removeTriesMax; attempt += 1) {
    const members = membersOf(folder);
    if (members.length === 0) return;
    for (const pid of members) send(pid, 'SIGKILL');
    await delay(removePauseMs);
  }
};

/** False when the process has ended. */
export const send = (pid: number, signal: NodeJS.Signals): boolean => {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
};

/** A process outside our own namespace is listed as 0, and a signal to 0 would reach ourselves. */
const membersOf = (folder: string): readonly number[] => {
  try {
    const members = readFileSync(join(folder, 'cgroup.procs'), 'latin1').split('\n');
    return members.map(Number).filter((pid) => pid > 1);
  } catch {
    // The group was removed.
    return [];
  }
};

/** A cgroup can be removed once its last process is reaped. */
const removeAll = async (folders: readonly string[]): Promise<void> => {
  for (const folder of folders) {
    await killAll(folder);
    for (let attempt = 1; existsSync(folder); attempt += 1) {
      try {
        rmdirSync(folder);
      } catch (error) {
        if (attempt === removeTriesMax) throw error;
        await delay(removePauseMs);
      }
    }
  }
};

const sweep =
  (hierarchies: readonly string[]) =>
  async (prefix: string): Promise<void> => {
    const folders = hierarchies.map((folder) => join(folder, parent)).filter((folder) => existsSync(folder));
    const leftovers = folders.flatMap((folder) =>
      readdirSync(folder)
        .filter((name) => name.startsWith(prefix))
        .map((name) => join(folder, name)),
    );
    await removeAll(leftovers);
  };

/**
 * Tells whether a sandbox was killed for its memory.
 *
 * The kernel's counter only rises, and one killed call leaves it raised while the sandbox lives on. So only a rise
 * within the last moments before the end counts.
 */
export type OomWatch = {
  /** Ends the watch; true when the kernel has just killed for memory. */
  readonly end: () => boolean;
};

/** A rise is recent for one to two of these. */
const sampleEveryMs = 500;

export const watchOutOfMemory = (oomKills: () => number): OomWatch => {
  let earlier = oomKills();
  let latest = earlier;
  const timer = setInterval(() => {
    earlier = latest;
    latest = oomKills();
  }, sampleEveryMs);
  timer.unref();
  return {
    end: () => {
      clearInterval(timer);
      return oomKills() > earlier;
    },
  };
};
