/**
 * Creates a session, waiting for a slot or stopping the least recently used idle execution session if the caller
 * allows that. A busy session never loses its slot.
 */

import type { Session } from '../../domain/session.ts';
import { executionSlots } from '../../domain/slots.ts';
import { isAppError } from '../../errors.ts';
import type { Deps, SessionDeps } from '../deps.ts';
import { endSession } from '../turn/requests/end-session.ts';
import { type CreateRequest, createSession } from './create-session.ts';

export type WaitOptions = {
  /** Seconds to wait for a slot. */
  readonly waitSeconds: number;
  readonly evictIdle: boolean;
  readonly correlationId: string;
  readonly signal?: AbortSignal;
  /** Called before each pause. */
  readonly onWait?: () => void;
};

const pauseMsMin = 100;
const pauseMsMax = 1000;

/** As `createSession`; `resource_limit_exceeded` only after the wait. */
export const createSessionWhenFree = async (
  ports: SessionDeps & Deps<'slots'>,
  request: CreateRequest,
  wait: WaitOptions,
): Promise<Session | undefined> => {
  const deadline = ports.world.now() + wait.waitSeconds * 1000;
  for (let pause = pauseMsMin; ; pause = Math.min(pauseMsMax, pause * 2)) {
    try {
      return await createSession(ports, request);
    } catch (error) {
      if (!isAppError(error) || error.code !== 'resource_limit_exceeded') throw error;
      if (wait.evictIdle && (await evictOne(ports, request, wait))) continue;
      const leftMs = deadline - ports.world.now();
      if (leftMs <= 0 || wait.signal?.aborted) throw error;
      wait.onWait?.();
      await ports.world.sleep(Math.min(pause, leftMs), wait.signal);
    }
  }
};

/** Stops the execution session that has been idle longest; false when every one is busy. */
const evictOne = async (
  ports: SessionDeps & Deps<'slots'>,
  { principal }: CreateRequest,
  { correlationId }: WaitOptions,
): Promise<boolean> => {
  const { taken } = await ports.slots.read(executionSlots(principal.owner));
  const sessions = await ports.sessions.getMany(taken.map(({ session }) => session));
  const now = ports.world.now();
  const idle = sessions
    .filter((session) => session.status !== 'creating' && !isBusy(session, now))
    .sort((one, other) => one.lastActiveAt - other.lastActiveAt);
  const reason = 'evicted for another session';
  for (const session of idle) {
    if (await endSession(ports, session, { reason, correlationId, unlessMoved: true })) {
      ports.telemetry.count('SessionsEvicted');
      return true;
    }
  }
  return false;
};

const isBusy = ({ runningCalls }: Session, now: number): boolean =>
  Object.values(runningCalls).some((until) => until > now);
