/**
 * The watch over what the kernel does not report: a sandbox full of processes and, where no cgroup
 * limits it, its memory. The call that holds most of it is killed.
 *
 * It looks only while calls run. User code could blind it, being of the same identity; the kernel's own
 * limits stand behind it.
 */
import type { KillCause, RunnerSettings } from '../wire/messages.ts';
import type { Call } from './call.ts';
import { allPids, readMark, statFields } from './call-processes.ts';

const watchMs = 200;
/** The call is killed a little below the kernel's limit, so that there is room to say why. */
const processesReserve = 24;
const pageBytes = 4096;

export const watchProcesses = (settings: RunnerSettings, calls: () => readonly Call[]): void => {
  setInterval(() => {
    const running = calls();
    if (running.length === 0) return;
    const usage = readUsage();
    const tasksMax = settings.processesMax - processesReserve;
    const bytesMax = (settings.memoryMbMax ?? Number.POSITIVE_INFINITY) * 1_048_576;
    if (sum(usage, 'tasks') >= tasksMax) killLargest(running, usage, { by: 'tasks', cause: 'processes' });
    if (sum(usage, 'bytes') >= bytesMax) killLargest(running, usage, { by: 'bytes', cause: 'memory' });
  }, watchMs).unref();
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
  const held = (call: Call): number =>
    sum(
      usage.filter(({ mark }) => mark === call.mark),
      by,
    );
  calls.reduce((largest, call) => (held(call) > held(largest) ? call : largest)).kill(cause);
};
