/**
 * Ends the calls whose children have answered, by what the children's own logs say. Nothing runs while a parent waits: a
 * child that has ended wakes it, and it reads (CH3).
 */
import { type ChildOutcome, outcomeOf } from '../../domain/child-outcome.ts';
import { eventsPerSessionMax, toolResultCharactersMax } from '../../domain/limits.ts';
import { isEnded, type Session } from '../../domain/session.ts';
import { cutMiddle } from '../../domain/text.ts';
import { callsWithChildren } from '../../domain/turn/pending-work.ts';
import type { TurnEvent } from '../../domain/turn/turn.ts';
import type { SessionStore } from '../../ports/session-store.ts';
import type { World } from '../../ports/world.ts';
import { advance, type Desk, type DeskLimits, type DeskPorts, isHeld } from './desk.ts';
import type { TurnWatch } from './turn-watch.ts';

export type LookPorts = DeskPorts & { readonly world: World };

type Waiting = ReturnType<typeof callsWithChildren>[number];
type End = Extract<TurnEvent, { type: 'call-finished' | 'call-failed' }>;

/** An answer is most often among the newest events. */
const newestEventsMax = 100;

/** Undefined when no child has answered. */
export const lookAtChildren = async (
  ports: LookPorts,
  desk: Desk,
  { limits, watch }: { readonly limits: DeskLimits; readonly watch: Pick<TurnWatch, 'expect'> },
): Promise<Desk | undefined> => {
  const waiting = callsWithChildren(desk.turn.state);
  if (waiting.length === 0) return undefined;
  const children = await ports.sessions.getMany(waiting.map(({ wait }) => wait.child.session));
  const childOf = ({ wait }: Waiting) => children.find(({ id }) => id === wait.child.session);
  const looks = await Promise.all(waiting.map((call) => endOf(ports, call, childOf(call))));
  const ends = looks.filter((end) => end !== undefined);
  let current: Desk | undefined;
  for (const [index, event] of ends.entries()) {
    const before = current ?? desk;
    watch.expect(before.turn.version + 1);
    // Whose end is known already has nobody who would come for it again.
    const keeps = index < ends.length - 1;
    current = await advance(ports, { desk: before, event, limits, keeps });
    if (!isHeld(current)) return current;
  }
  return current;
};

/** Undefined while it works. */
const endOf = async (
  { sessions, world }: LookPorts,
  { callId, wait }: Waiting,
  child: Session | undefined,
): Promise<End | undefined> => {
  const at = world.now();
  if (child === undefined)
    return { type: 'call-failed', at, callId, code: 'session_not_found', message: 'its session is gone' };
  if (child.status === 'created' || child.status === 'running') return undefined;
  const newest = await outcomeAmong(sessions, { child, wait, eventsMax: newestEventsMax });
  if (newest === undefined && (await stillWaits(sessions, wait))) return undefined;
  // What it has said since it was read is among twice as many as are kept.
  const outcome =
    newest ?? (await outcomeAmong(sessions, { child, wait, eventsMax: 2 * eventsPerSessionMax }));
  return { at, callId, ...endBy(child, outcome, { durationMs: Math.max(0, at - wait.since) }) };
};

/** A session that ends a turn is idle though a message came meanwhile: that leaves the inbox with its completion. */
const stillWaits = async (
  sessions: Pick<SessionStore, 'loadWork'>,
  { child: { session, message } }: Waiting['wait'],
): Promise<boolean> => {
  const { inbox } = await sessions.loadWork(session);
  return inbox.some(({ messageId }) => messageId === message);
};

const outcomeAmong = async (
  sessions: Pick<SessionStore, 'readEvents'>,
  { child, wait, eventsMax }: { child: Session; wait: Waiting['wait']; eventsMax: number },
): Promise<ChildOutcome | undefined> => {
  const since = Math.max(-1, child.lastSeq - eventsMax);
  const { events } = await sessions.readEvents(child.id, { since, eventsMax });
  return outcomeOf(events, wait.child.message);
};

const endBy = (
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
  const said = cutMiddle(outcome.text, toolResultCharactersMax);
  if (stopReason === 'end_turn' || stopReason === 'max_tokens') {
    const text = `session_id: ${id}\n${said}`;
    return { type: 'call-finished', content: [{ type: 'text', text }], text, durationMs } as const;
  }
  const words = [`it stopped: ${stopReason}`, problem, said].filter(
    (part) => part !== undefined && part !== '',
  );
  return failed(stopReason === 'cancelled' ? 'invalid_session_state' : 'internal_error', words.join('. '));
};
