/**
 * The memory counters of the cgroup that holds user code: how often the kernel killed in it, and its peak.
 *
 * A child that the kernel kills leaves no trace in its parent's exit code, so the counter is compared
 * before and after. cgroup v1 and v2 name their files differently (kernel.org, admin-guide/cgroup-v1/memory,
 * admin-guide/cgroup-v2).
 */
import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export type MemoryCounters = {
  readonly oomKills: () => number;
  /** Starts a measurement of the peak; it reads from here where the kernel lets us reset, else from the sandbox's start. */
  readonly measurePeak: () => PeakMeasurement;
};
export type PeakMeasurement = { readonly readMb: () => number | undefined; readonly end: () => void };

const versions = [
  { events: 'memory.oom_control', peak: 'memory.max_usage_in_bytes' },
  { events: 'memory.events', peak: 'memory.peak' },
] as const;

export const openMemoryCounters = (folder: string | undefined): MemoryCounters | undefined => {
  if (folder === undefined) return undefined;
  const version = versions.find(({ events }) => readQuietly(join(folder, events)) !== undefined);
  if (version === undefined) return undefined;
  const events = join(folder, version.events);
  return {
    oomKills: () => Number(/^oom_kill (\d+)/m.exec(readQuietly(events) ?? '')?.[1] ?? 0),
    measurePeak: () => measurePeak(join(folder, version.peak)),
  };
};

/** Writing resets it: for all on v1, for this one descriptor on v2 since Linux 6.12. */
const measurePeak = (path: string): PeakMeasurement => {
  const descriptor = openQuietly(path, 'r+') ?? openQuietly(path, 'r');
  if (descriptor === undefined) return { readMb: () => undefined, end: () => undefined };
  try {
    writeSync(descriptor, '0', 0);
  } catch {
    // Read-only or an older kernel: the peak is the sandbox's.
  }
  const buffer = Buffer.alloc(32);
  return {
    readMb: () => {
      const bytes = Number(buffer.toString('latin1', 0, readSync(descriptor, buffer, 0, buffer.length, 0)));
      return Math.ceil(bytes / 1_048_576);
    },
    end: () => closeSync(descriptor),
  };
};

const readQuietly = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
};

const openQuietly = (path: string, flags: string): number | undefined => {
  try {
    return openSync(path, flags);
  } catch {
    return undefined;
  }
};
