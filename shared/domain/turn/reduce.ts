/**
 * The turn's one decision: `reduce(state, event, limits)` gives the next state and what to say about it.
 *
 * Total and pure: time, ids and results arrive inside the event; work leaves as `pendingWork(state)`.
 * An event that does not apply returns the same state and a reason. Nothing throws for bad timing.
 * Specification, transition table and invariants T1..T16: docs/spec/turn.md.
 */
import { assertNever } from '../assert.ts';
import type { StopReason } from '../event-log.ts';
import type { JsonObject } from '../json.ts';
import { historyArgumentsBytesMax } from '../limits.ts';
import { cutTextsMiddle } from '../text.ts';
import {
  addUsage,
  allowedEntries,
  decideCall,
  firstApproval,
  leftOut,
  noUsage,
  queuedCalls,
  resultOf,
  waitingCall,
} from './calls.ts';
import { assertTurn } from './invariants.ts';
import { repetitionOf } from './policy.ts';
import {
  type Acting,
  type Deciding,
  outsideSandbox,
  type Thinking,
  type ToolCall,
  type TurnEvent,
  type TurnLimits,
  type TurnState,
  type TurnStep,
} from './turn.ts';

type EventOf<T extends TurnEvent['type']> = Extract<TurnEvent, { type: T }>;
type Running = Thinking | Deciding | Acting;
type Resting = Exclude<TurnState, Running>;
type Said = Pick<TurnStep, 'log' | 'history'>;

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
      return isCurrent(state, event) ? thought(state, event, limits) : ignore(state, 'a late answer');
    case 'call-decided':
      return state.kind === 'deciding' ? decided(state, event, limits) : ignore(state, 'no call waits');
    case 'grant-withdrawn':
      return grantWithdrawn(state, event, limits);
    case 'calls-started':
      return state.kind === 'acting' ? callsStarted(state, event) : ignore(state, 'no call runs');
    case 'call-handed':
      return state.kind === 'acting' ? callHanded(state, event) : ignore(state, 'no call runs');
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

/** An event that was taken before, or came too late, changes nothing (T9). */
const ignore = (state: TurnState, reason: string): TurnStep => ({
  state,
  log: [],
  history: [],
  ignored: reason,
});

const isCurrent = (state: Running, event: { readonly step: number }): state is Thinking =>
  state.kind === 'thinking' && state.step === event.step;

const begin = ({ turnId, message, policy, spentUsd }: EventOf<'started'>, limits: TurnLimits): TurnStep => {
  const { messageId } = message;
  const said: Said = {
    log: [{ type: 'message', data: { ...message, role: 'user' } }],
    history: [{ role: 'user', ...message }],
  };
  const state: Thinking = { kind: 'thinking', turnId, messageId, step: 1, usage: noUsage, spentUsd, policy };
  return then(said, isOverBudget(state, limits) ? end(state, 'budget_exceeded', '') : silently(state));
};

/** A model call is made while there is money left: the one that passes the limit is the last (T16). */
const isOverBudget = ({ spentUsd }: Running, { usdMax }: TurnLimits): boolean =>
  spentUsd > 0 && spentUsd >= usdMax;

type Thought = EventOf<'model-answered'> | EventOf<'model-failed'> | EventOf<'budget-spent'>;

const thought = (state: Thinking, event: Thought, limits: TurnLimits): TurnStep => {
  if (event.type === 'model-answered') return answered(state, event, limits);
  return event.type === 'model-failed' ? modelFailed(state, event) : end(state, 'budget_exceeded', '');
};

const answered = (state: Thinking, event: EventOf<'model-answered'>, limits: TurnLimits): TurnStep => {
  const { messageId, text, providerState } = event;
  const usage = addUsage(state.usage, event.usage);
  const spentUsd = state.spentUsd + event.costUsd;
  const repetition = repetitionOf(event.calls, state.repetition);
  const wanted = event.end === 'refused' ? [] : event.calls;
  const queued = queuedCalls(wanted, { policy: state.policy, repetition }, limits);
  const calls = queued.map(({ call }) => call);
  const asked = calls.map(({ callId, name, args }) => ({ callId, name, args }));
  const isSilent = text === '' && asked.length === 0;
  const said: Said = {
    log: text === '' ? [] : [{ type: 'message', data: { messageId, role: 'assistant', text } }],
    history: isSilent
      ? []
      : [
          {
            role: 'assistant',
            messageId,
            text,
            calls: shortened(asked),
            ...(providerState === undefined ? {} : { providerState }),
          },
        ],
  };
  if (calls.length === 0) {
    const stopReason = event.end === 'tool_use' ? 'end_turn' : event.end;
    return then(said, end({ ...state, usage, spentUsd }, stopReason, text));
  }
  const asking: Said = {
    log: [
      ...asked.map((data) => ({ type: 'tool:call' as const, data })),
      ...leftOut(wanted.length, calls.length),
      ...allowedEntries(state.turnId, queued),
      ...firstApproval(state.turnId, calls),
    ],
    history: [],
  };
  const next: Deciding = { ...state, kind: 'deciding', usage, spentUsd, repetition, calls };
  return then(said, then(asking, queue(next, limits)));
};

/** The model wrote the arguments itself: of long ones it reads the ends again. The log and the queue have them whole. */
const shortened = <Asked extends { readonly args: JsonObject }>(
  asked: readonly Asked[],
): readonly Asked[] => {
  const bytesMax = Math.floor(historyArgumentsBytesMax / asked.length);
  return asked.map((call) => ({ ...call, args: cutTextsMiddle(call.args, bytesMax) }));
};

const modelFailed = (state: Thinking, { code, message }: EventOf<'model-failed'>): TurnStep =>
  then(
    { log: [{ type: 'agent:error', data: { code, message } }], history: [] },
    end(state, code === 'content_refused' ? 'refused' : 'error', ''),
  );

const decided = (state: Deciding, event: EventOf<'call-decided'>, limits: TurnLimits): TurnStep => {
  const waiting = waitingCall(state);
  if (waiting === undefined || waiting.callId !== event.callId)
    return ignore(state, 'this call does not wait');
  const decision = decideCall(state, waiting, event);
  const asking = { log: firstApproval(state.turnId, decision.calls), history: [] };
  return then(
    decision,
    then(asking, queue({ ...state, policy: decision.policy, calls: decision.calls }, limits)),
  );
};

/**
 * Later calls ask again. So do those that it allowed and that have not started; where others of the queue have, they fail
 * instead, since a queue that runs asks nobody any more (T5).
 */
const grantWithdrawn = (
  state: Running,
  { grantId }: EventOf<'grant-withdrawn'>,
  limits: TurnLimits,
): TurnStep => {
  const grants = state.policy.grants.filter(({ id }) => id !== grantId);
  if (grants.length === state.policy.grants.length) return ignore(state, 'there is no such grant');
  const policy = { ...state.policy, grants };
  const said = {
    log: [{ type: 'system' as const, data: { kind: 'grant_withdrawn', grantId } }],
    history: [],
  };
  if (state.kind === 'thinking') return then(said, silently({ ...state, policy }));
  const isTaken = ({ grant, status }: ToolCall): boolean => grant === grantId && status === 'approved';
  if (!state.calls.some(isTaken)) return then(said, silently({ ...state, policy }));
  const hasStarted = state.calls.some(({ status }) => !unstarted.includes(status));
  return then(
    said,
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
          ? then(
              step,
              callEnded(step.state, { type: 'call-failed', at: 0, callId, ...withdrawnFailure }, limits),
            )
          : step,
      silently(state),
    );

/** While a call waits for a human the turn decides; then the approved ones run; with none, the model hears so. */
const queue = (state: Deciding, limits: TurnLimits): TurnStep => {
  const has = (status: ToolCall['status']): boolean => state.calls.some((call) => call.status === status);
  if (has('pending')) return silently(state);
  return has('approved') ? silently({ ...state, kind: 'acting' }) : thinkAgain(state, limits);
};

/** A call starts once, in one generation: a later `calls-started` of another generation leaves it alone (T13). */
const callsStarted = (state: Acting, { callIds, generation }: EventOf<'calls-started'>): TurnStep => {
  const starts = (call: ToolCall): boolean => call.status === 'approved' && callIds.includes(call.callId);
  if (!state.calls.some(starts)) return ignore(state, 'these calls have started');
  const calls = state.calls.map((call) =>
    starts(call) ? { ...call, status: 'executing' as const, generation } : call,
  );
  return silently({ ...state, calls });
};

/** Given to somebody outside, who is told what is wanted in the same commit. */
const callHanded = (state: Acting, { callId, wait, said }: EventOf<'call-handed'>): TurnStep => {
  const isHanded = (call: ToolCall): boolean => call.status === 'approved' && call.callId === callId;
  if (!state.calls.some(isHanded)) return ignore(state, 'this call has started');
  const calls = state.calls.map((call) =>
    isHanded(call) ? { ...call, status: 'executing' as const, generation: outsideSandbox, wait } : call,
  );
  return { state: { ...state, calls }, log: said, history: [] };
};

const callEnded = (
  state: Acting,
  event: EventOf<'call-finished'> | EventOf<'call-failed'>,
  limits: TurnLimits,
): TurnStep => {
  const call = state.calls.find(({ callId }) => callId === event.callId);
  if (call === undefined || (call.status !== 'executing' && call.status !== 'approved'))
    return ignore(state, 'this call has ended');
  const result = resultOf(call, event);
  const calls = state.calls.map((other) => (other === call ? { ...call, status: result.status } : other));
  const isRunning = calls.some(({ status }) => status === 'approved' || status === 'executing');
  return then(result, isRunning ? silently({ ...state, calls }) : thinkAgain(state, limits));
};

/** The queue is emptied before the model is called (T10), so that its next calls start a fresh one. */
const thinkAgain = (state: Deciding | Acting, limits: TurnLimits): TurnStep => {
  const { calls: _, ...running } = state;
  if (state.step >= limits.stepsMax) return end(state, 'steps_exceeded', '');
  if (isOverBudget(state, limits)) return end(state, 'budget_exceeded', '');
  return silently({ ...running, kind: 'thinking', step: state.step + 1 });
};

const silently = (state: TurnState): TurnStep => ({ state, log: [], history: [] });

/** The one place that says `completion`, and the last thing a turn says (T8). */
const end = ({ turnId, usage, spentUsd }: Running, stopReason: StopReason, text: string): TurnStep => ({
  state: { kind: 'done', turnId, stopReason },
  log: [{ type: 'completion', data: { turnId, stopReason, text, usage, sessionCostUsd: spentUsd } }],
  history: [],
});

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
  return then({ log: [], history }, end(state, stopReason, ''));
};

const isClosed = ({ status }: ToolCall): boolean =>
  status === 'completed' || status === 'failed' || status === 'rejected';

/** What was said first, then what follows from it; the later state counts. */
const then = (first: Said, second: TurnStep): TurnStep => ({
  state: second.state,
  log: [...first.log, ...second.log],
  history: [...first.history, ...second.history],
});
