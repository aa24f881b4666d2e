/**
 * Follows a session's log until a message is answered. A waiting client receives events as they come: a
 * completion, a tool call, its output, an error, and a call that waits for a human.
 *
 * The log is polled, often at first: no function has to know its waiters. A client that stops waiting misses
 * nothing of it. Of a message that was sent before, the ring may have dropped the beginning.
 */

import { type LogEvent, oldestKept } from '../../domain/event-log.ts';
import type { MessageId, SessionId } from '../../domain/ids.ts';
import { logLookMsMax, logLookMsMin } from '../../domain/limits.ts';
import { isEnded, type Session } from '../../domain/session.ts';
import type { Deps } from '../deps.ts';

export type Awaited = {
  readonly sessionId: SessionId;
  readonly messageId: MessageId;
  /** Of a message that was sent before, read before the log is. */
  readonly standing?: Standing;
  /** The log up to here is known. */
  readonly since: number;
  /** The longest wait, in milliseconds. */
  readonly waitMsMax: number;
  readonly signal: AbortSignal;
  readonly onEvent: (event: ToldEvent) => void;
};

export type Completion = Extract<LogEvent, { type: 'completion' }>;
export type ToldEvent = Extract<
  LogEvent,
  { type: 'completion' | 'tool:call' | 'tool:output' | 'tool:approval_required' | 'agent:error' }
>;

export type Answer = {
  /** Absent: the wait was aborted, the time is over, or the turn is. */
  readonly completion?: Completion;
  readonly lastIndex: number;
  /** Set when the turn is over, and the log has nothing of it any more. */
  readonly isForgotten?: true;
};

/** `waiting`: its turn has not begun. */
export type Standing = 'waiting' | 'running' | 'over';

/** A message stays in the inbox until it is completed. */
export const standingOf = async (
  { turns }: Deps<'turns'>,
  { id, status }: Pick<Session, 'id' | 'status'>,
  messageId: MessageId,
): Promise<Standing> => {
  if (isEnded(status)) return 'over';
  const { turn, inbox } = await turns.loadWork(id);
  if ('messageId' in turn.state && turn.state.messageId === messageId) return 'running';
  return inbox.some((message) => message.messageId === messageId) ? 'waiting' : 'over';
};

/** The part of the log in which the answer of a message that was sent before may be: all that is kept. */
export const sentBefore = async (
  ports: Deps<'turns'>,
  session: Pick<Session, 'id' | 'status' | 'lastSeq'>,
  messageId: MessageId,
): Promise<{ readonly standing: Standing; readonly since: number }> => ({
  standing: await standingOf(ports, session, messageId),
  since: oldestKept(session.lastSeq) - 1,
});

const told: readonly string[] = [
  'completion',
  'tool:call',
  'tool:output',
  'tool:approval_required',
  'agent:error',
] satisfies readonly ToldEvent['type'][];

const isTold = (event: LogEvent): event is ToldEvent => told.includes(event.type);

export const awaitCompletion = async (
  { eventLog, world }: Deps<'eventLog' | 'world'>,
  wait: Awaited,
): Promise<Answer> => {
  const until = world.now() + wait.waitMsMax;
  const heard: Heard = { lastIndex: wait.since, hasBegun: false };
  let { standing = 'waiting' } = wait;
  let pause = logLookMsMin;
  while (!wait.signal.aborted) {
    const page = { since: heard.lastIndex, eventsMax: pageEventsMax };
    const { events, hasMore } = await eventLog.read(wait.sessionId, page);
    const completion = hear(heard, events, wait);
    if (completion !== undefined) return { completion, lastIndex: completion.seq };
    if (hasMore) continue;
    if (!heard.hasBegun && standing === 'over') return { lastIndex: heard.lastIndex, isForgotten: true };
    if (!heard.hasBegun && standing === 'running') {
      // The ring has dropped the beginning, and so all that came before it.
      Object.assign(heard, { lastIndex: wait.since, hasBegun: true });
      standing = 'waiting';
      continue;
    }
    if (world.now() + pause > until) break;
    pause = events.length > 0 ? logLookMsMin : Math.min(logLookMsMax, pause * pauseGrowth);
    await world.sleep(pause, wait.signal);
  }
  return { lastIndex: heard.lastIndex };
};

/** Events may be long. */
const pageEventsMax = 100;

/** Two minutes of silence are some seventy reads. */
const pauseGrowth = 1.5;

type Heard = { lastIndex: number; hasBegun: boolean };

/** Publishes the events of the message, which begin with its own; returns the completion when that is there. */
const hear = (
  heard: Heard,
  events: readonly LogEvent[],
  { messageId, onEvent }: Awaited,
): Completion | undefined => {
  for (const event of events) {
    heard.lastIndex = event.seq;
    heard.hasBegun ||= isBeginning(event, messageId);
    // Earlier events belong to the end of another turn.
    if (!heard.hasBegun || !isTold(event)) continue;
    onEvent(event);
    if (event.type === 'completion') return event;
  }
  return undefined;
};

const isBeginning = (event: LogEvent, messageId: MessageId): boolean =>
  event.type === 'message' && event.data.role === 'user' && event.data.messageId === messageId;
