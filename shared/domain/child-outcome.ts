/** The outcome of one message to a child, read from the child's log. */
import type { LogEvent, StopReason } from './event-log.ts';
import type { MessageId } from './ids.ts';

export type ChildOutcome = {
  readonly stopReason: StopReason;
  readonly text: string;
  readonly problem?: string;
};

/** Undefined while the log has no completion after the message: it runs, it waits, or the log has dropped it. */
export const outcomeOf = (events: readonly LogEvent[], message: MessageId): ChildOutcome | undefined => {
  const asked = events.findIndex(
    ({ type, data }) => type === 'message' && data.role === 'user' && data.messageId === message,
  );
  if (asked < 0) return undefined;
  const after = events.slice(asked + 1);
  const end = after.findIndex(({ type }) => type === 'completion');
  const completion = after[end];
  if (completion?.type !== 'completion') return undefined;
  const problem = after.slice(0, end).findLast(({ type }) => type === 'agent:error');
  const { stopReason, text } = completion.data;
  return problem?.type === 'agent:error'
    ? { stopReason, text, problem: problem.data.message }
    : { stopReason, text };
};
