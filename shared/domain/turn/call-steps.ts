/**
 * The steps of a call after its decision: it starts, is delegated, is detached, is found unsent, or ends. The next model call
 * begins when every call of the queue has ended.
 */
import { assertNever } from '../assert.ts';
import { resultOf } from './call-result.ts';
import { thinkAgain } from './queue-steps.ts';
import { asksChild, remoteGeneration, type ToolCall } from './tool-call.ts';
import type { Acting, EventOf, Running, ToolResult, TurnLimits, TurnStep } from './turn.ts';
import { followedBy, ignore, silently } from './turn-step.ts';

type OfCalls = EventOf<
  'calls-started' | 'call-delegated' | 'call-detached' | 'call-unsent' | 'call-finished' | 'call-failed'
>;

export const callStep = (state: Acting, event: OfCalls, limits: TurnLimits): TurnStep => {
  switch (event.type) {
    case 'calls-started':
      return callsStarted(state, event);
    case 'call-delegated':
      return callDelegated(state, event);
    case 'call-detached':
      return callDetached(state, event);
    case 'call-unsent':
      return callUnsent(state, event, limits);
    case 'call-finished':
    case 'call-failed':
      return callEnded(state, event, limits);
    default:
      return assertNever(event);
  }
};

const unstarted: readonly ToolCall['status'][] = ['pending', 'approved', 'rejected'];

export const hasBegun = (status: ToolCall['status']): boolean => !unstarted.includes(status);

/** A child is asked before the turn says so: once the queue runs, its function may be about to. */
export const mayHaveBegun = ({ kind }: Running, call: ToolCall): boolean =>
  hasBegun(call.status) || (kind === 'acting' && call.status === 'approved' && asksChild(call));

/** A call starts once, in one generation: a later `calls-started` of another generation leaves it alone (T13). */
const callsStarted = (state: Acting, { callIds, generation }: EventOf<'calls-started'>): TurnStep => {
  const starts = (call: ToolCall): boolean => call.status === 'approved' && callIds.includes(call.callId);
  if (!state.calls.some(starts)) return ignore(state, 'these calls have started');
  const calls = state.calls.map((call) =>
    starts(call) ? { ...call, status: 'executing' as const, generation } : call,
  );
  return silently({ ...state, calls, ...unsavedWith(state, generation) });
};

/** Files that calls of a turn write are unsaved until a save says otherwise, and in an earlier sandbox none can any more. */
const unsavedWith = ({ unsaved }: Acting, generation: number): Pick<Acting, 'unsaved'> => {
  if (generation === remoteGeneration) return {};
  if (unsaved === undefined) return { unsaved: { generation, isUntried: true } };
  const isLeft = unsaved.isUntried === true && unsaved.generation < generation;
  return isLeft ? { unsaved: { generation: unsaved.generation } } : {};
};

/** Given to a client or a child, which is asked in the same commit. */
const callDelegated = (state: Acting, { callId, wait, log }: EventOf<'call-delegated'>): TurnStep => {
  const isDelegated = (call: ToolCall): boolean => call.status === 'approved' && call.callId === callId;
  if (!state.calls.some(isDelegated)) return ignore(state, 'this call has started');
  const calls = state.calls.map((call) =>
    isDelegated(call) ? { ...call, status: 'executing' as const, generation: remoteGeneration, wait } : call,
  );
  return { state: { ...state, calls }, log, history: [] };
};

/** A call that runs on in its sandbox while no function waits for it. */
const callDetached = (state: Acting, { callId, wait }: EventOf<'call-detached'>): TurnStep => {
  const runs = (call: ToolCall): boolean =>
    call.callId === callId &&
    call.status === 'executing' &&
    call.generation !== remoteGeneration &&
    call.wait === undefined;
  if (!state.calls.some(runs)) return ignore(state, 'this call runs in no sandbox, or waits already');
  return silently({ ...state, calls: state.calls.map((call) => (runs(call) ? { ...call, wait } : call)) });
};

/** It was never started, so that it may start in the next sandbox; the second time it fails. */
const callUnsent = (
  state: Acting,
  { at, callId, generation, notice }: EventOf<'call-unsent'>,
  limits: TurnLimits,
): TurnStep => {
  const isIt = (call: ToolCall): boolean =>
    call.callId === callId &&
    call.status === 'executing' &&
    call.generation === generation &&
    call.wait === undefined;
  const found = state.calls.find(isIt);
  if (found === undefined) return ignore(state, 'this call does not run there');
  if (found.unsent !== undefined) {
    const { code, message } = unreachedFailure;
    const told = notice === undefined ? message : `${message} ${notice}`;
    return callEnded(state, { type: 'call-failed', at, callId, code, message: told }, limits);
  }
  const unsent = notice === undefined ? {} : { notice };
  const { generation: _, ...call } = found;
  const again = { ...call, status: 'approved' as const, unsent };
  return silently({ ...state, calls: state.calls.map((other) => (other === found ? again : other)) });
};

const unreachedFailure = {
  code: 'sandbox_unavailable',
  message: 'its sandbox could not be reached; it did not run',
};

export const callEnded = (state: Acting, event: ToolResult, limits: TurnLimits): TurnStep => {
  const call = state.calls.find(({ callId }) => callId === event.callId);
  if (call === undefined || (call.status !== 'executing' && call.status !== 'approved'))
    return ignore(state, 'this call has ended');
  const result = resultOf(call, event);
  const calls = state.calls.map((other) => (other === call ? { ...call, status: result.status } : other));
  const isRunning = calls.some(({ status }) => status === 'approved' || status === 'executing');
  return followedBy(result, isRunning ? silently({ ...state, calls }) : thinkAgain(state, limits));
};
