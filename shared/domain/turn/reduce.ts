/**
 * Reduces an event: `reduce(state, event, limits)` gives the next state, and what it adds to log and history.
 *
 * Total and pure: time, ids and results arrive inside the event; work leaves as `pendingWork(state)`.
 * An event that does not apply returns the same state and a reason. Nothing throws for bad timing.
 * Specification, transition table and invariants T1..T16: docs/spec/turn.md.
 */
import { assertNever } from '../assert.ts';
import type { StopReason } from '../event-log.ts';
import { applyDecision, firstApproval, noUsage, resultOf } from './call-queue.ts';
import { assertTurn } from './invariants.ts';
import {
  end,
  followedBy,
  ignore,
  isOverBudget,
  queue,
  type StepOutput,
  silently,
  thinkAgain,
  thinkingEnded,
} from './transitions.ts';
import {
  type Acting,
  type Deciding,
  type EventOf,
  type Running,
  remoteGeneration,
  type Thinking,
  type ToolCall,
  type ToolResult,
  type TurnEvent,
  type TurnLimits,
  type TurnState,
  type TurnStep,
} from './turn.ts';
import { waitingCall } from './waiting-call.ts';

type Resting = Exclude<TurnState, Running>;

export const reduce = (state: TurnState, event: TurnEvent, limits: TurnLimits): TurnStep => {
  const step = transition(state, event, limits);
  if (step.state !== state) assertTurn(step.state, limits);
  return step;
};

const transition = (state: TurnState, event: TurnEvent, limits: TurnLimits): TurnStep => {
  if (state.kind === 'idle' || state.kind === 'done') return awaken(state, event, limits);
  switch (event.type) {
    case 'started':
      return ignore(state, 'a turn is running');
    case 'cancelled':
      return abandon(state, 'cancelled');
    case 'model-answered':
    case 'model-failed':
    case 'budget-spent':
      return isCurrent(state, event) ? thinkingEnded(state, event, limits) : ignore(state, 'a late answer');
    case 'call-decided':
      return state.kind === 'deciding' ? decided(state, event, limits) : ignore(state, 'no call waits');
    case 'grant-withdrawn':
      return grantWithdrawn(state, event, limits);
    case 'calls-started':
      return state.kind === 'acting' ? callsStarted(state, event) : ignore(state, 'no call runs');
    case 'call-delegated':
      return state.kind === 'acting' ? callDelegated(state, event) : ignore(state, 'no call runs');
    case 'call-finished':
    case 'call-failed':
      return state.kind === 'acting' ? callEnded(state, event, limits) : ignore(state, 'no call runs');
    default:
      return assertNever(event);
  }
};

const awaken = (state: Resting, event: TurnEvent, limits: TurnLimits): TurnStep => {
  if (event.type !== 'started') return ignore(state, 'no turn is running');
  const hasEnded = state.kind === 'done' && state.turnId === event.turnId;
  return hasEnded ? ignore(state, 'this turn has ended') : begin(event, limits);
};

const isCurrent = (state: Running, event: { readonly step: number }): state is Thinking =>
  state.kind === 'thinking' && state.step === event.step;

const begin = ({ turnId, message, policy, spentUsd }: EventOf<'started'>, limits: TurnLimits): TurnStep => {
  const { messageId } = message;
  const question: StepOutput = {
    log: [{ type: 'message', data: { ...message, role: 'user' } }],
    history: [{ role: 'user', ...message }],
  };
  const state: Thinking = { kind: 'thinking', turnId, messageId, step: 1, usage: noUsage, spentUsd, policy };
  return followedBy(
    question,
    isOverBudget(state, limits) ? end(state, 'budget_exceeded', '') : silently(state),
  );
};

const decided = (state: Deciding, event: EventOf<'call-decided'>, limits: TurnLimits): TurnStep => {
  const waiting = waitingCall(state);
  if (waiting === undefined || waiting.callId !== event.callId)
    return ignore(state, 'this call does not wait');
  const decision = applyDecision(state, waiting, event);
  const asking = { log: firstApproval(state.turnId, decision.calls), history: [] };
  return followedBy(
    decision,
    followedBy(asking, queue({ ...state, policy: decision.policy, calls: decision.calls }, limits)),
  );
};

/**
 * Later calls ask again. So do those that it allowed and that have not started; where others of the queue have, they fail
 * instead, since a queue that runs asks no person any more (T5).
 */
const grantWithdrawn = (
  state: Running,
  { grantId }: EventOf<'grant-withdrawn'>,
  limits: TurnLimits,
): TurnStep => {
  const grants = state.policy.grants.filter(({ id }) => id !== grantId);
  if (grants.length === state.policy.grants.length) return ignore(state, 'there is no such grant');
  const policy = { ...state.policy, grants };
  const output = {
    log: [{ type: 'system' as const, data: { kind: 'grant_withdrawn', grantId } }],
    history: [],
  };
  if (state.kind === 'thinking') return followedBy(output, silently({ ...state, policy }));
  const isTaken = ({ grant, status }: ToolCall): boolean => grant === grantId && status === 'approved';
  if (!state.calls.some(isTaken)) return followedBy(output, silently({ ...state, policy }));
  const hasStarted = state.calls.some(({ status }) => !unstarted.includes(status));
  return followedBy(
    output,
    hasStarted
      ? failTaken({ ...state, kind: 'acting', policy }, isTaken, limits)
      : askTaken({ ...state, kind: 'deciding', policy }, isTaken),
  );
};

const unstarted: readonly ToolCall['status'][] = ['pending', 'approved', 'rejected'];

const askTaken = (state: Deciding, isTaken: (call: ToolCall) => boolean): TurnStep => {
  const before = state.calls.find(({ status }) => status === 'pending');
  const calls = state.calls.map((call) => (isTaken(call) ? askedAgain(call) : call));
  const waiting = calls.find(({ status }) => status === 'pending');
  const log = waiting?.callId === before?.callId ? [] : firstApproval(state.turnId, calls);
  return { state: { ...state, calls }, log, history: [] };
};

const askedAgain = ({ grant: _, ...call }: ToolCall): ToolCall => ({
  ...call,
  status: 'pending',
  askedHuman: true,
});

const withdrawnFailure = {
  code: 'conflict',
  message: 'the grant that allowed it was withdrawn; it did not run',
};

const failTaken = (state: Acting, isTaken: (call: ToolCall) => boolean, limits: TurnLimits): TurnStep =>
  state.calls
    .filter(isTaken)
    .reduce<TurnStep>(
      (step, { callId }) =>
        step.state.kind === 'acting'
          ? followedBy(
              step,
              callEnded(step.state, { type: 'call-failed', at: 0, callId, ...withdrawnFailure }, limits),
            )
          : step,
      silently(state),
    );

/** A call starts once, in one generation: a later `calls-started` of another generation leaves it alone (T13). */
const callsStarted = (state: Acting, { callIds, generation }: EventOf<'calls-started'>): TurnStep => {
  const starts = (call: ToolCall): boolean => call.status === 'approved' && callIds.includes(call.callId);
  if (!state.calls.some(starts)) return ignore(state, 'these calls have started');
  const calls = state.calls.map((call) =>
    starts(call) ? { ...call, status: 'executing' as const, generation } : call,
  );
  return silently({ ...state, calls });
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

const callEnded = (state: Acting, event: ToolResult, limits: TurnLimits): TurnStep => {
  const call = state.calls.find(({ callId }) => callId === event.callId);
  if (call === undefined || (call.status !== 'executing' && call.status !== 'approved'))
    return ignore(state, 'this call has ended');
  const result = resultOf(call, event);
  const calls = state.calls.map((other) => (other === call ? { ...call, status: result.status } : other));
  const isRunning = calls.some(({ status }) => status === 'approved' || status === 'executing');
  return followedBy(result, isRunning ? silently({ ...state, calls }) : thinkAgain(state, limits));
};

/** Ends a turn in its middle; calls that have no result yet get one, so that the history stays whole. */
const abandon = (state: Running, stopReason: StopReason): TurnStep => {
  const open = state.kind === 'thinking' ? [] : state.calls.filter((call) => !isClosed(call));
  const history = open.map(({ callId, name, status }) => ({
    role: 'tool' as const,
    callId,
    name,
    text:
      status === 'executing'
        ? 'The user cancelled the turn; this call may have run in part.'
        : 'The user cancelled the turn; this call did not run.',
    outcome: 'failed' as const,
  }));
  return followedBy({ log: [], history }, end(state, stopReason, ''));
};

const isClosed = ({ status }: ToolCall): boolean =>
  status === 'completed' || status === 'failed' || status === 'rejected';
