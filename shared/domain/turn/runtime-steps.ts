/**
 * Steps of a turn that a program of the sandbox carries: its start in a sandbox, and what it has said since. Invariants RT3, RT4, RT6
 * and RT7: docs/spec/runtimes.md.
 *
 * Its calls are its own: the log shows them, and only its questions enter the queue. The conversation that a model reads is in the
 * program's own state; the platform keeps what was asked and answered.
 */

import { type RuntimeReply, type RuntimeWork, runtimeStartsMax } from '../runtime.ts';
import { addUsage, allowedEntries, firstApproval, queuedCalls } from './call-queue.ts';
import { endOverBudget, isOverBudget } from './over-budget.ts';
import type { ToolCall } from './tool-call.ts';
import type { Deciding, EventOf, Repetition, Running, Thinking, TurnLimits, TurnStep } from './turn.ts';
import { end, followedBy, ignore, type StepOutput, silently } from './turn-step.ts';

type Carried<State> = State & { readonly runtime: RuntimeWork };

/** A program repeats its questions as it likes: the platform does not judge its loops. */
const noRepetition: Repetition = { calls: '', times: 1 };

/** A turn that waits for a person hears nothing. */
export const runtimeStep = (
  state: Running,
  event: EventOf<'runtime-began' | 'runtime-moved'>,
  limits: TurnLimits,
): TurnStep => {
  if (state.kind !== 'thinking') return ignore(state, 'nothing is heard now');
  return event.type === 'runtime-began' ? runtimeBegan(state, event) : runtimeMoved(state, event, limits);
};

/** In a sandbox after the first one it goes on from what was saved. */
const runtimeBegan = (state: Thinking, { generation }: EventOf<'runtime-began'>): TurnStep => {
  const { runtime } = state;
  if (runtime === undefined) return ignore(state, 'no program carries this turn');
  if (runtime.generation === generation) return ignore(state, 'it has begun in this sandbox');
  if (runtime.starts >= runtimeStartsMax) return startsExceeded(state);
  const { name, starts } = runtime;
  const begun: RuntimeWork = { name, starts: starts + 1, generation, taken: 0, replies: [] };
  const log =
    starts === 0
      ? []
      : [{ type: 'system' as const, data: { kind: 'runtime_restarted', runtime: name, starts: starts + 1 } }];
  return { state: { ...state, runtime: begun }, log, history: [] };
};

const startsExceeded = (state: Thinking): TurnStep => {
  const message = `the sandbox was lost ${runtimeStartsMax} times while the agent worked`;
  const log = [{ type: 'agent:error' as const, data: { code: 'sandbox_unavailable', message } }];
  return followedBy({ log, history: [] }, end(state, 'error', ''));
};

const runtimeMoved = (state: Thinking, event: EventOf<'runtime-moved'>, limits: TurnLimits): TurnStep => {
  const { runtime } = state;
  if (runtime === undefined) return ignore(state, 'no program carries this turn');
  if (event.generation !== runtime.generation || event.after !== runtime.taken)
    return ignore(state, 'these facts are in the log');
  const moved: Carried<Thinking> = {
    ...state,
    step: Math.min(state.step + event.steps, limits.stepsMax),
    usage: addUsage(state.usage, event.usage),
    spentUsd: Math.max(state.spentUsd, event.spentUsd),
    runtime: { ...runtime, taken: event.to, replies: [] },
  };
  return followedBy(saidBy(event), nextOf(moved, event, { limits, steps: state.step + event.steps }));
};

const saidBy = ({ log, answer }: EventOf<'runtime-moved'>): StepOutput => ({
  log,
  history: answer === undefined ? [] : [{ role: 'assistant', ...answer, calls: [] }],
});

const nextOf = (
  state: Carried<Thinking>,
  { asked, isOverCalls, end: ended }: EventOf<'runtime-moved'>,
  { limits, steps }: { readonly limits: TurnLimits; readonly steps: number },
): TurnStep => {
  // The broker answers no call without money: the program then fails for want of a model.
  const isSpent = isOverCalls === true || isOverBudget(state, limits);
  if (ended !== undefined && !(ended.stopReason === 'error' && isSpent))
    return end(state, ended.stopReason, ended.text);
  if (steps > limits.stepsMax) return end(state, 'steps_exceeded', '');
  if (isSpent) return endOverBudget(state);
  if (asked.length === 0) return silently(state);
  const queued = queuedCalls(asked, { policy: state.policy, repetition: noRepetition }, limits);
  const calls = queued.map(({ call }) => call);
  const log = [...allowedEntries(state.turnId, queued), ...firstApproval(state.turnId, calls)];
  return followedBy({ log, history: [] }, runtimeQueue({ ...state, kind: 'deciding', calls }));
};

/** The program hears of all decisions of a queue at once. */
export const runtimeQueue = (state: Carried<Deciding>): TurnStep => {
  const { calls, runtime, ...running } = state;
  if (calls.some(({ status }) => status === 'pending')) return silently(state);
  return silently({ ...running, kind: 'thinking', runtime: { ...runtime, replies: calls.map(replyOf) } });
};

const replyOf = ({ callId, route, status, rejection }: ToolCall): RuntimeReply => ({
  permission: route?.kind === 'runtime' ? route.question : callId,
  approved: status === 'approved',
  ...(rejection === undefined ? {} : { reason: rejection }),
});

/** A question has no result in the conversation: it is the program's own. */
export const withoutHistory = (step: TurnStep): TurnStep => ({ ...step, history: [] });

export const isCarried = <State extends Running>(state: State): state is Carried<State> =>
  state.runtime !== undefined;
