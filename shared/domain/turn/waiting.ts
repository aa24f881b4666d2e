/**
 * The call of a turn that waits for a person, and the change that a step makes to the list of waiting calls: one entry a
 * session, written and removed with the step itself (AP1).
 */
import type { CallId, TurnId } from '../ids.ts';
import type { ToolCall, TurnState } from './turn.ts';

/** The call that a person has to decide now: one at a time, in order. */
export const waitingCall = (state: TurnState): ToolCall | undefined =>
  state.kind === 'deciding' ? state.calls.find(({ status }) => status === 'pending') : undefined;

export type WaitingCall = {
  readonly turnId: TurnId;
  readonly callId: CallId;
  /** ISO 8601, UTC: with the session's id it is the entry's position in the list. */
  readonly askedAt: string;
};

/** `removed`: where the entry stood before. Undefined when nothing changes. */
export type WaitingChange = { readonly removed?: string; readonly added?: WaitingCall };

export const waitingChange = (before: TurnState, after: TurnState): WaitingChange | undefined => {
  const [was, is] = [entryOf(before), entryOf(after)];
  if (was?.callId === is?.callId && was?.turnId === is?.turnId && was?.askedAt === is?.askedAt)
    return undefined;
  return {
    ...(was !== undefined && was.askedAt !== is?.askedAt ? { removed: was.askedAt } : {}),
    ...(is === undefined ? {} : { added: is }),
  };
};

const entryOf = (state: TurnState): WaitingCall | undefined => {
  const call = waitingCall(state);
  return call === undefined || state.kind !== 'deciding'
    ? undefined
    : { turnId: state.turnId, callId: call.callId, askedAt: call.askedAt };
};
