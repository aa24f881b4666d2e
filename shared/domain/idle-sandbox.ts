/**
 * The use of a sandbox by its sessions, and whether it may give way to another: no call of theirs runs in it, and no function
 * works for one of them (L5). Its processes are asked for separately.
 */
import type { SandboxRecord } from './sandbox.ts';
import { isEnded, type Session } from './session.ts';

/** The reason for which a sandbox is taken from idle sessions, as they read it. */
export const takenReasons = {
  idle: 'idle',
  slot: 'another session needed its slot',
  pause: 'paused',
} as const;

export type SandboxUse = {
  readonly sandbox: Pick<SandboxRecord, 'state' | 'readyAt'>;
  /** All sessions of its workspace. */
  readonly sessions: readonly Pick<
    Session,
    'status' | 'lastActiveAt' | 'runningCalls' | 'lease' | 'slot' | 'tree'
  >[];
};

/** The time of its last use, in epoch milliseconds; undefined while it is busy. */
export const idleSince = ({ sandbox, sessions }: SandboxUse, now: number): number | undefined => {
  if (sandbox.state !== 'ready') return undefined;
  const living = sessions.filter(({ status }) => !isEnded(status));
  if (living.some((session) => isBusy(session, now))) return undefined;
  return Math.max(sandbox.readyAt ?? 0, ...living.map(({ lastActiveAt }) => lastActiveAt));
};

/** A child works under the slot of its root, so its own does not tell. */
const isBusy = (
  { status, runningCalls, lease, slot, tree }: SandboxUse['sessions'][number],
  now: number,
): boolean =>
  slot?.turn === true ||
  (tree !== undefined && status === 'running') ||
  lease.until > now ||
  Object.values(runningCalls).some((until) => until > now);
