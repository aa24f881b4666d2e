/** The processor time of user code, from what the kernel counts of ended and of living processes. */
import { readFileSync } from 'node:fs';
import { statFields } from './call-processes.ts';

/** The clock tick of `/proc/<pid>/stat`: 100 per second on every Linux we run on (proc(5), sysconf(3)). */
const millisecondsPerTick = 10;

let takenMs = 0;

/**
 * The processor time of the child that has just ended and of what it waited for: the kernel adds it to ours
 * when a child is reaped, and Node says so right after, so the calls that still run are not in it. Not
 * counted is what nobody waited for: background processes, and the rest of a call that was killed. Two
 * calls reaped in one go share: the first is given both times.
 */
export const takeChildrenCpuMs = (): number => {
  const sum = childrenCpuMs();
  const fresh = sum - takenMs;
  takenMs = sum;
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

/** What a living process, and the children it waited for, have used: fields 14 to 17. */
export const cpuMsOf = (pid: number): number => sumOf(statFields(pid).slice(11, 15));

const sumOf = (ticks: readonly string[]): number =>
  ticks.reduce((sum, text) => sum + Number(text), 0) * millisecondsPerTick;
