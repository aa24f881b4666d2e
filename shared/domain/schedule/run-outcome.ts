/**
 * The outcome of a run's turn, read from its session's log: the first completion after its own message.
 *
 * A log is a ring: it may have dropped the message, but a completion is a turn's last event.
 */
import type { LogEvent } from '../event-log.ts';
import type { MessageId } from '../ids.ts';
import { cutOutput, eventOfStop, type RunEvent } from './run.ts';

export type Outcome =
  | { readonly kind: 'open'; readonly hasBegun: boolean; readonly since: number }
  | {
      readonly kind: 'ended';
      readonly event: Extract<RunEvent, 'answered' | 'broke'>;
      readonly startedAt?: number;
      readonly endedAt: number;
      readonly output: string;
      readonly problem?: string;
      /** True when the session has received no message since. */
      readonly isLast: boolean;
    };

type Question = { readonly message: MessageId; readonly hasBegun: boolean; readonly since: number };

/** `events` are the log after `since`, oldest first. */
export const readOutcome = (events: readonly LogEvent[], { message, hasBegun, since }: Question): Outcome => {
  const begins = hasBegun
    ? -1
    : events.findIndex((event) => isUserMessage(event) && event.data.messageId === message);
  if (!hasBegun && begins < 0) return { kind: 'open', hasBegun: false, since };
  const own = events.slice(begins + 1);
  const end = own.findIndex(({ type }) => type === 'completion');
  const completion = own[end];
  if (completion?.type !== 'completion')
    return { kind: 'open', hasBegun: true, since: events[begins]?.seq ?? since };
  const { stopReason, text } = completion.data;
  const event = eventOfStop[stopReason];
  const startedAt = events[begins]?.at;
  return {
    kind: 'ended',
    event,
    ...(startedAt === undefined ? {} : { startedAt }),
    endedAt: completion.at,
    output: cutOutput(text),
    ...(event === 'answered' ? {} : { problem: problemOf(own.slice(0, end)) ?? stopReason }),
    isLast: !own.slice(end).some(isUserMessage),
  };
};

const isUserMessage = (event: LogEvent): event is Extract<LogEvent, { type: 'message' }> =>
  event.type === 'message' && event.data.role === 'user';

/** The last error of the turn itself, not of one of its calls. */
const problemOf = (events: readonly LogEvent[]): string | undefined => {
  const errors = events.flatMap((event) =>
    event.type === 'agent:error' && event.data.callId === undefined ? [event.data] : [],
  );
  const last = errors.at(-1);
  return last === undefined ? undefined : cutOutput(`${last.code}: ${last.message}`);
};
