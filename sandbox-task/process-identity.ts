/** A process by its number and its start time, which together tell it from a later process with the same number. Needs /proc. */
import { readFileSync } from 'node:fs';

/** Field 22 of proc_pid_stat(5), counted after the name in parentheses, which may hold anything. */
export const startOf = (pid: number): string => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? 'ended' : String(fields[19]);
  } catch {
    return 'unknown';
  }
};

export const isRunning = (pid: number, startedAt: string): boolean =>
  exists(pid) && startOf(pid) === startedAt;

const exists = (pid: number): boolean => {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    return process.kill(pid, 0);
  } catch (cause) {
    // It is alive and another user's.
    return (cause as NodeJS.ErrnoException).code === 'EPERM';
  }
};
