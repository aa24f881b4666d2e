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
  /**
   * Starts a measurement of the peak: of all user code, calls at the same time included, since they share
   * the cgroup. Where the kernel's own peak cannot be reset, it counts when it rises during the measurement, and
   * otherwise the highest sample counts.
   */
  readonly measurePeak: () => PeakMeasurement;
};
type PeakMeasurement = {
  /** Where the kernel's own peak cannot be reset, the highest sample counts. */
  readonly sample: () => void;
  readonly readMb: () => number | undefined;
  readonly end: () => void;
};

/** Version 1 has a folder for each controller, and a container sees all of them. */
const versions = [
  {
    folder: 'memory',
    events: 'memory.oom_control',
    peak: 'memory.max_usage_in_bytes',
    current: 'memory.usage_in_bytes',
  },
  {
    folder: '',
    events: 'memory.oom_control',
    peak: 'memory.max_usage_in_bytes',
    current: 'memory.usage_in_bytes',
  },
  { folder: '', events: 'memory.events', peak: 'memory.peak', current: 'memory.current' },
] as const;

/** Tries to reset the kernel's peak, unless the options forbid it. */
export const openMemoryCounters = (
  folder: string | undefined,
  { canReset = true }: { readonly canReset?: boolean } = {},
): MemoryCounters | undefined => {
  if (folder === undefined) return undefined;
  const version = versions.find(
    ({ folder: below, events }) => readQuietly(join(folder, below, events)) !== undefined,
  );
  if (version === undefined) return undefined;
  const pathOf = (name: string): string => join(folder, version.folder, name);
  const events = pathOf(version.events);
  return {
    oomKills: () => Number(/^oom_kill (\d+)/m.exec(readQuietly(events) ?? '')?.[1] ?? 0),
    measurePeak: createPeakMeter({
      path: pathOf(version.peak),
      currentPath: pathOf(version.current),
      flags: canReset ? 'r+' : 'r',
    }),
  };
};

type PeakFiles = { readonly path: string; readonly currentPath: string; readonly flags: string };

type RunningMeasurement = {
  readonly descriptor: number;
  /** The kernel's peak when it could not be reset: only more than that is of this measurement. */
  readonly oldBytes: number;
  bytesMax: number;
};

/**
 * Writing resets it: for all on v1, for this one descriptor on v2 since Linux 6.12. A reset would take from
 * the running measurements their peak, so they sample first.
 */
const createPeakMeter = ({ path, currentPath, flags }: PeakFiles): (() => PeakMeasurement) => {
  const running = new Set<RunningMeasurement>();
  const sample = (measurement: RunningMeasurement): void => {
    const { descriptor, oldBytes, bytesMax } = measurement;
    const peak = readNumber(descriptor);
    const current = Number(readQuietly(currentPath) ?? 0);
    measurement.bytesMax = Math.max(bytesMax, current, peak > oldBytes ? peak : 0);
  };
  return () => {
    const descriptor = openQuietly(path, flags) ?? openQuietly(path, 'r');
    if (descriptor === undefined)
      return { sample: () => undefined, readMb: () => undefined, end: () => undefined };
    for (const other of running) sample(other);
    const measurement = { descriptor, oldBytes: reset(descriptor), bytesMax: 0 };
    running.add(measurement);
    return {
      sample: () => sample(measurement),
      readMb: () => {
        sample(measurement);
        return Math.ceil(measurement.bytesMax / 1_048_576);
      },
      end: () => {
        running.delete(measurement);
        closeSync(descriptor);
      },
    };
  };
};

/** Resets the peak; returns the part of it that could not be reset. */
const reset = (descriptor: number): number => {
  try {
    writeSync(descriptor, '0', 0);
    return 0;
  } catch {
    // Read-only or an older kernel.
    return readNumber(descriptor);
  }
};

const readNumber = (descriptor: number): number => {
  const buffer = Buffer.alloc(32);
  return Number(buffer.toString('latin1', 0, readSync(descriptor, buffer, 0, buffer.length, 0)));
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
