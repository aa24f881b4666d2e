/**
 * A session that a connection made and that never got a message: it is removed soon after its last connection has ended. Where the
 * function that would hear of an end has died, the age of the connection tells it.
 */
import { connectMsMax } from './limits.ts';
import type { Session } from './session.ts';
import { connectionMsMax } from './subscriber.ts';

export const isUnused = ({ isFleeting, status }: Pick<Session, 'isFleeting' | 'status'>): boolean =>
  isFleeting === true && status === 'created';

/** A connection that was opened before this time has ended: the two hours of one begin when its `$connect` is over. */
export const endedIfOpenedBefore = (now: number): number => now - connectionMsMax - connectMsMax;

/** The longest time from one look at it to the next. After it, the connection that made it has ended. */
export const unusedLookMs = connectionMsMax + 2 * connectMsMax;
