/**
 * Reduces an event: `reduce(state, event, limits)` gives the next state, and what it adds to log and history.
 *
 * Total and pure: time, ids and results arrive inside the event; work leaves as `pendingWork(state)`.
 * An event that does not apply returns the same state and a reason. Nothing throws for bad timing.
 * Specification, transition table and invariants T1..T16: docs/spec/turn.md.
 */
import { begin } from './begin-turn.ts';
import { applyDecision, firstApproval } from './call-queue.ts';
import { callStep, mayHaveBegun } from './call-steps.ts';
import { grantWithdrawn } from './grant-steps.ts';
import { assertTurn } from './invariants.ts';
import { partialAnswer, thinkingEnded, withKnown } from './model-steps.ts';
import { tellPrinted } from './printed.ts';
import { queueStep } from './queue-steps.ts';
import { isCarried, runtimeQueue, runtimeStep, withoutHistory } from './runtime-steps.ts';
import type { ToolCall } from './tool-call.ts';
import { trialMoved, trialOutdated } from './trial-steps.ts';
import type {
  Deciding,
  EventOf,
  Running,
  Thinking,
  TurnEvent,
  TurnLimits,
  TurnState,
  TurnStep,
} from './turn.ts';
import { end, followedBy, ignore } from './turn-step.ts';
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
      return state.kind === 'acting' ? callStep(state, event, limits) : ignore(state, 'no call runs');
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
  return followedBy(decision, followedBy(asking, queueStep(next, limits)));
};

/** Ends a turn in its middle; calls that have no result yet get one, so that the history stays whole. */
const abandon = (state: Running, { printed = {}, partial, known }: EventOf<'cancelled'>): TurnStep => {
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
  const ended = end(withKnown(state, known), 'cancelled', '');
  return followedBy(partialAnswer(said), followedBy({ log: [], history }, ended));
};

const isClosed = ({ status }: ToolCall): boolean =>
  status === 'completed' || status === 'failed' || status === 'rejected';
