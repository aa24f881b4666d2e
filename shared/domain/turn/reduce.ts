/**
 * Reduces an event: `reduce(state, event, limits)` gives the next state, and what it adds to log and history.
 *
 * Total and pure: time, ids and results arrive inside the event; work leaves as `pendingWork(state)`.
 * An event that does not apply returns the same state and a reason. Nothing throws for bad timing.
 * Specification, transition table and invariants T1..T16: docs/spec/turn.md.
 */
import { assertNever } from '../assert.ts';
import { begin } from './begin-turn.ts';
import { callEnded, mayHaveBegun } from './call-ended.ts';
import { applyDecision, firstApproval } from './call-queue.ts';
import { grantWithdrawn } from './grant-steps.ts';
import { assertTurn } from './invariants.ts';
import { queue } from './next-step.ts';
import { tellPrinted } from './printed.ts';
import { isCarried, runtimeQueue, runtimeStep, withoutHistory } from './runtime-steps.ts';
import { partialAnswer, thinkingEnded } from './thinking-ended.ts';
import { remoteGeneration, type ToolCall } from './tool-call.ts';
import { trialMoved, trialOutdated } from './trial-steps.ts';
import type {
  Acting,
  Deciding,
  EventOf,
  Running,
  Thinking,
  TurnEvent,
  TurnLimits,
  TurnState,
  TurnStep,
} from './turn.ts';
import { end, followedBy, ignore, silently } from './turn-step.ts';
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
      return abandon(state, event);
    case 'model-answered':
    case 'model-failed':
    case 'budget-spent':
      return isCurrent(state, event) ? thinkingEnded(state, event, limits) : ignore(state, 'a late answer');
    case 'runtime-began':
    case 'runtime-moved':
      return runtimeStep(state, event, limits);
    case 'call-decided':
      return state.kind === 'deciding' ? decided(state, event, limits) : ignore(state, 'no call waits');
    case 'grant-withdrawn':
      return grantWithdrawn(state, event, limits);
    case 'trial-started':
    case 'trial-ended':
      return state.kind === 'deciding'
        ? trialMoved(state, event, (next, ruled) => decided(next, ruled, limits))
        : ignore(state, 'no call is to be tried');
    case 'trial-outdated':
      return state.kind === 'thinking'
        ? ignore(state, 'no call was tried')
        : trialOutdated(state, event, limits);
    default:
      return state.kind === 'acting' ? acted(state, event, limits) : ignore(state, 'no call runs');
  }
};

type OfCalls = EventOf<
  'calls-started' | 'call-delegated' | 'call-detached' | 'call-unsent' | 'call-finished' | 'call-failed'
>;

const acted = (state: Acting, event: OfCalls, limits: TurnLimits): TurnStep => {
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

const awaken = (state: Resting, event: TurnEvent, limits: TurnLimits): TurnStep => {
  if (event.type !== 'started') return ignore(state, 'no turn is running');
  const hasEnded = state.kind === 'done' && state.turnId === event.turnId;
  return hasEnded ? ignore(state, 'this turn has ended') : begin(state, event, limits);
};

const isCurrent = (state: Running, event: { readonly step: number }): state is Thinking =>
  state.kind === 'thinking' && state.step === event.step;

const decided = (state: Deciding, event: EventOf<'call-decided'>, limits: TurnLimits): TurnStep => {
  const waiting = waitingCall(state);
  if (waiting === undefined || waiting.callId !== event.callId)
    return ignore(state, 'this call does not wait');
  const decision = applyDecision(state, waiting, event);
  const asking = { log: firstApproval(state.turnId, decision.calls), history: [] };
  const next = { ...state, policy: decision.policy, calls: decision.calls };
  if (isCarried(next)) return withoutHistory(followedBy(decision, followedBy(asking, runtimeQueue(next))));
  return followedBy(decision, followedBy(asking, queue(next, limits)));
};

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

/** Ends a turn in its middle; calls that have no result yet get one, so that the history stays whole. */
const abandon = (state: Running, { printed = {}, partial }: EventOf<'cancelled'>): TurnStep => {
  const open = state.kind === 'thinking' ? [] : state.calls.filter((call) => !isClosed(call));
  const history = open.map((call) => ({
    role: 'tool' as const,
    callId: call.callId,
    name: call.name,
    text: mayHaveBegun(state, call)
      ? tellPrinted('The user cancelled the turn; this call may have run in part.', printed[call.callId])
      : 'The user cancelled the turn; this call did not run.',
    outcome: 'failed' as const,
  }));
  const said = state.kind === 'thinking' ? partial : undefined;
  return followedBy(partialAnswer(said), followedBy({ log: [], history }, end(state, 'cancelled', '')));
};

const isClosed = ({ status }: ToolCall): boolean =>
  status === 'completed' || status === 'failed' || status === 'rejected';
