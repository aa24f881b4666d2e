/**
 * The call of a turn that waits for a person, and the change that a step makes to the list of waiting calls: one entry a
 * session, written and removed with the step itself (AP1).
 *
 * Its digest is the SHA-256, in UTF-8, of the canonical JSON (RFC 8785) of all that a person approves; any holder of the
 * call can compute it again. That form has none for half a surrogate pair, so such arguments are refused before they come here.
 */
import { canonicalJson } from '../canonical-json.ts';
import type { CallId, TurnId } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import type { ToolCall } from './tool-call.ts';
import type { CallTrial, TriedCall } from './trial.ts';
import type { TurnState } from './turn.ts';

/** The call that a person has to decide now: one at a time, in order. One that is to be tried waits for no person yet. */
export const waitingCall = (state: TurnState): ToolCall | undefined => {
  const call = nextPending(state);
  return call?.trial?.state === 'due' ? undefined : call;
};

/** True for a call that a person may be shown: one that is to be tried has no effect yet. */
export const isAsked = ({ status, trial }: ToolCall): boolean =>
  status === 'pending' && trial?.state !== 'due';

export type DueCall = ToolCall & { readonly trial: Extract<CallTrial, { state: 'due' }> };

/** The next call to be tried. */
export const callToTry = (state: TurnState): DueCall | undefined => {
  const call = nextPending(state);
  return call?.trial?.state === 'due' ? { ...call, trial: call.trial } : undefined;
};

/** The result behind which that call is tried: it is applied before. One that comes after it in the queue is not. */
export const triedBefore = (state: TurnState): TriedCall | undefined => {
  if (state.kind !== 'deciding') return undefined;
  const place = state.calls.findIndex(({ status }) => status === 'pending');
  const before = state.calls
    .slice(0, Math.max(place, 0))
    .findLast(({ status, trial }) => status === 'approved' && trial?.state === 'tried');
  return before?.trial?.state === 'tried' ? before.trial : undefined;
};

const nextPending = (state: TurnState): ToolCall | undefined =>
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

export type DigestedCall = {
  readonly turnId: TurnId;
  readonly callId: CallId;
  readonly name: string;
  readonly args: JsonObject;
};

export const digestText = ({ turnId, callId, name, args }: DigestedCall): string =>
  canonicalJson({ args, callId, name, turnId });
