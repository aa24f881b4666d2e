/**
 * The oom_score_adj of user processes, set by the server where user code finds /proc read-only.
 *
 * From each request on, every process behind the inner wall is given the highest score, until no request waits and
 * every process has it: so the kernel takes those first when memory is short. They cannot lower it, and what
 * they fork inherits it. The runner keeps its own: it cannot be traced, so only root may write its score
 * (docs/spec/sandbox.md, W6).
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { userOomScore } from '../wire/messages.ts';

export type UserScores = {
  /** A request was sent, which may start processes. */
  readonly wake: () => void;
  readonly stop: () => void;
};

/** A process counts as one of ours for so long at most, in milliseconds. */
const raiseEveryMs = 100;

/** `wall` is the process that the server started, bubblewrap: it and its child, the init behind the wall, are ours. */
export const watchUserScores = (wall: number, isAsked: () => boolean): UserScores => {
  const ours = new Set([1, process.pid, wall, ...childrenOf(wall)]);
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    const hasRaised = raiseAllBut(ours);
    timer = undefined;
    if (hasRaised || isAsked()) wake();
  };
  const wake = (): void => {
    timer ??= setTimeout(look, raiseEveryMs);
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
