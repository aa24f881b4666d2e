/**
 * User processes seen from the server: their end once the runner has ended, and their oom_score_adj.
 *
 * In a nested sandbox the kernel ends them: they share the runner's pid namespace. On Fargate there is one namespace for
 * all, and the server, root with CAP_KILL, walks /proc for the user's uid. The server sets the score where user code
 * finds /proc read-only: from each request until no request waits, every process behind the inner wall gets the highest
 * one, so that the kernel takes those first when memory is short. They cannot lower it, and their forks inherit it. The
 * runner keeps its own score: it cannot be traced, so only root may write it (docs/spec/sandbox.md, W6).
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { userOomScore } from '../wire/messages.ts';

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

export type UserScores = {
  /** A request was sent, which may start processes. */
  readonly wake: () => void;
  readonly stop: () => void;
};

/** The longest time for which a process counts as one of ours, in milliseconds. */
const raiseEveryMs = 100;

/** `wall` is the process that the server started, bubblewrap: it and its child, the init behind the wall, are ours. */
export const watchUserScores = (wall: number, hasRequests: () => boolean): UserScores => {
  const ours = new Set([1, process.pid, wall, ...childrenOf(wall)]);
  let timer: NodeJS.Timeout | undefined;
  const raiseScores = (): void => {
    const hasRaised = raiseAllBut(ours);
    timer = undefined;
    if (hasRaised || hasRequests()) wake();
  };
  const wake = (): void => {
    timer ??= setTimeout(raiseScores, raiseEveryMs);
  };
  return { wake, stop: () => clearTimeout(timer) };
};

const raiseAllBut = (ours: ReadonlySet<number>): boolean =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && !ours.has(pid))
    .map(raise)
    .includes(true);

/** True when it had another score. */
const raise = (pid: number): boolean => {
  const file = `/proc/${pid}/oom_score_adj`;
  try {
    if (Number(readFileSync(file, 'latin1')) === userOomScore) return false;
    writeFileSync(file, String(userOomScore));
    return true;
  } catch {
    // It has ended, or it is the runner.
    return false;
  }
};

const childrenOf = (pid: number): readonly number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ').map(Number);
