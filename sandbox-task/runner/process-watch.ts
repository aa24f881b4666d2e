/**
 * The watch over limits that the kernel does not report: the number of processes and, where no cgroup limits
 * it, the memory of the sandbox. The processes of the mark that holds most are killed: a running call, or background
 * processes of an earlier one.
 *
 * It checks while calls run and as each ends, since one that met the kernel's limit may be over before the next
 * check. User code could blind it, being of the same identity; the kernel's own limits stand behind it.
 */
import type { KillCause, RunnerSettings } from '../wire/messages.ts';
import type { Call } from './call.ts';
import { allPids, killMarked, readMark, statFields } from './call-processes.ts';

const watchMs = 200;
/** The call is killed a little below the kernel's limit, so that there is room to say why. */
const processesReserve = 24;
const pageBytes = 4096;

/** Returns the check, for a call that ends. */
export const watchProcesses = (settings: RunnerSettings, calls: () => readonly Call[]): (() => void) => {
  const tasksMax = settings.processesMax - processesReserve;
  const bytesMax = (settings.memoryMbMax ?? Number.POSITIVE_INFINITY) * 1_048_576;
  const check = (): void => {
    const running = calls();
    if (running.length === 0) return;
    const usage = readUsage();
    if (sum(usage, 'tasks') >= tasksMax) killLargest(running, usage, { by: 'tasks', cause: 'processes' });
    if (sum(usage, 'bytes') >= bytesMax) killLargest(running, usage, { by: 'bytes', cause: 'memory' });
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

const sum = (usage: readonly Usage[], by: Measure): number =>
  usage.reduce((total, process) => total + process[by], 0);

const killLargest = (
  calls: readonly Call[],
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
  const held = marked.map(([mark, group = []]) => ({ mark: Number(mark), held: sum(group, by) }));
  return held.toSorted((one, other) => other.held - one.held)[0]?.mark;
};
