/**
 * The state of a session as the function that accepts a message reads it: by it the function that is invoked knows whether
 * anything else has happened since, and so whether a read that it made before it had the lease is as good as one under it.
 *
 * Every acceptance and every invocation for other work counts `workSeq`, every step with an event `lastSeq`, every holder the
 * fence; none of them ever goes back.
 */
import type { Session } from '../session.ts';

export type SessionMark = Pick<Session, 'workSeq' | 'lastSeq'> & Pick<Session['lease'], 'fence'>;

export const markOf = ({ workSeq, lastSeq, lease: { fence } }: Session): SessionMark => ({
  workSeq,
  lastSeq,
  fence,
});

/** True when since the mark one message was accepted, the lease was acquired once, and nothing else happened. */
export const isNextHolder = (mark: SessionMark, { workSeq, lastSeq, lease }: Session): boolean =>
  workSeq === mark.workSeq + 1 && lastSeq === mark.lastSeq && lease.fence === mark.fence + 1;
