/**
 * The end of all user processes, once the runner is gone.
 *
 * In a nested sandbox the kernel sees to it: they share the runner's pid namespace. On Fargate there is
 * one namespace for all, and the server, root with CAP_KILL, walks /proc for the user's uid.
 */
import { readdirSync, readFileSync } from 'node:fs';

/** Each pass leaves only what was forked during it; killed processes cannot fork, so a few passes end a fork bomb. */
const passesMax = 100;

export const endProcessesOf = (uid: number | undefined): void => {
  if (uid === undefined || uid === process.getuid?.()) return;
  for (let pass = 0; pass < passesMax; pass += 1) {
    const pids = livingPids().filter((pid) => readUid(pid) === uid);
    if (pids.length === 0) return;
    for (const pid of pids) killQuietly(pid);
  }
};

export const readUid = (pid: number | undefined): number | undefined => {
  const uid = /^Uid:\s+(\d+)/m.exec(readStatus(pid))?.[1];
  return uid === undefined ? undefined : Number(uid);
};

const livingPids = (): readonly number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && !/^State:\s+Z/m.test(readStatus(pid)));

const readStatus = (pid: number | undefined): string => {
  try {
    return readFileSync(`/proc/${pid}/status`, 'latin1');
  } catch {
    return '';
  }
};

const killQuietly = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself in between.
  }
};
