/**
 * Collects the results of children that have answered, from the children's own logs, and ends the calls that wait for them.
 * Nothing runs while a parent waits: a child that has ended notifies it, and it reads (CH3).
 */

import { eventsPerSessionMax, toolResultCharactersMax } from '../../../domain/limits.ts';
import { isEnded, type Session } from '../../../domain/session.ts';
import { cutMiddle } from '../../../domain/text.ts';
import { type ChildOutcome, outcomeOf } from '../../../domain/turn/logged-turns.ts';
import { callsWithChildren, detachedCalls } from '../../../domain/turn/pending-work.ts';
import type { ToolResult } from '../../../domain/turn/turn.ts';
import type { ErrorCode } from '../../../errors.ts';
import type { TurnDeps } from '../../deps.ts';
import { applyEvents } from '../commit/apply-event.ts';
import type { CommitOutcome, TurnContext } from '../holder/turn-context.ts';

type Waiting = ReturnType<typeof callsWithChildren>[number];

/** An answer is most often among the newest events. */
const newestEventsMax = 100;

/** Undefined when no child has answered. */
export const collectChildResults = async (
  ports: TurnDeps,
  context: TurnContext,
): Promise<CommitOutcome | undefined> => {
  const waiting = callsWithChildren(context.turn.state);
  if (waiting.length === 0) return undefined;
  const children = await ports.sessions.getMany(waiting.map(({ wait }) => wait.child.session));
  const childOf = ({ wait }: Waiting) => children.find(({ id }) => id === wait.child.session);
  const results = await Promise.all(waiting.map((call) => resultOf(ports, call, childOf(call))));
  const events = results.filter((result) => result !== undefined);
  // The release of the lease would put off the look at calls that run in a sandbox.
  const keepsLease = detachedCalls(context.turn.state).length > 0;
  return applyEvents(ports, context, { events, keepsLease });
};

/** Undefined while it works. */
const resultOf = async (
  ports: TurnDeps,
  { callId, wait }: Waiting,
  child: Session | undefined,
): Promise<ToolResult | undefined> => {
  const at = ports.world.now();
  if (child === undefined)
    return { type: 'call-failed', at, callId, code: 'session_not_found', message: 'its session was deleted' };
  if (child.status === 'created' || child.status === 'running') return undefined;
  const newest = await outcomeAmong(ports, { child, wait, eventsMax: newestEventsMax });
  if (newest === undefined && (await stillWaits(ports, wait))) return undefined;
  // Events that it has written since it was read are among twice as many as are kept.
  const outcome = newest ?? (await outcomeAmong(ports, { child, wait, eventsMax: 2 * eventsPerSessionMax }));
  return { at, callId, ...resultBy(child, outcome, { durationMs: Math.max(0, at - wait.since) }) };
};

/** A message that came after the session was read: it leaves the inbox when it is completed. */
const stillWaits = async (
  { turns }: TurnDeps,
  { child: { session, message } }: Waiting['wait'],
): Promise<boolean> => {
  const { inbox } = await turns.loadWork(session);
  return inbox.some(({ messageId }) => messageId === message);
};

const outcomeAmong = async (
  { eventLog }: TurnDeps,
  { child, wait, eventsMax }: { child: Session; wait: Waiting['wait']; eventsMax: number },
): Promise<ChildOutcome | undefined> => {
  const since = Math.max(-1, child.lastSeq - eventsMax);
  const { events } = await eventLog.read(child.id, { since, eventsMax });
  return outcomeOf(events, wait.child.message);
};

const resultBy = (
  { id, status }: Session,
  outcome: ChildOutcome | undefined,
  { durationMs }: { readonly durationMs: number },
) => {
  const failed = (code: string, message: string) =>
    ({ type: 'call-failed', code, message: `session ${id}: ${message}` }) as const;
  if (outcome === undefined)
    return isEnded(status)
      ? failed('invalid_session_state', 'it ended before it answered')
      : failed('events_purged', 'its answer is no longer in its log');
  const { stopReason, problem } = outcome;
  const answer = cutMiddle(outcome.text, toolResultCharactersMax);
  if (stopReason === 'end_turn' || stopReason === 'max_tokens') {
    const text = `session_id: ${id}\n${answer}`;
    return { type: 'call-finished', content: [{ type: 'text', text }], text, durationMs } as const;
  }
  const words = [`it stopped: ${stopReason}`, problem, answer].filter(
    (part) => part !== undefined && part !== '',
  );
  return failed(codesOf[stopReason] ?? 'internal_error', words.join('. '));
};

const codesOf: Readonly<Partial<Record<ChildOutcome['stopReason'], ErrorCode>>> = {
  cancelled: 'invalid_session_state',
  budget_exceeded: 'resource_limit_exceeded',
};
