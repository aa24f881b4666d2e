/** The end of a call of the model: its answer, its failure, or a budget that is spent. */

import { cutTextsMiddle, type JsonObject } from '../json.ts';
import { historyArgumentsBytesMax } from '../limits.ts';
import { repetitionOf } from './approval-policy.ts';
import {
  addUsage,
  allowedEntries,
  firstApproval,
  judgedCalls,
  keptCalls,
  leftOut,
  queuedCalls,
} from './call-queue.ts';
import { endOverBudget, isOverBudget } from './over-budget.ts';
import { queueStep } from './queue-steps.ts';
import { isKnownLoss, lossNotice, noticeId } from './saved-files.ts';
import type { Deciding, EventOf, PartialAnswer, Running, Thinking, TurnLimits, TurnStep } from './turn.ts';
import { end, followedBy, type StepOutput } from './turn-step.ts';
import type { KnownUsage } from './unanswered-call.ts';

type ThinkingEnd = EventOf<'model-answered'> | EventOf<'model-failed'> | EventOf<'budget-spent'>;

export const thinkingEnded = (state: Thinking, event: ThinkingEnd, limits: TurnLimits): TurnStep => {
  if (event.type === 'model-answered') return answered(state, event, limits);
  return event.type === 'model-failed' ? modelFailed(state, event) : endOverBudget(state);
};

const answered = (state: Thinking, event: EventOf<'model-answered'>, limits: TurnLimits): TurnStep => {
  const { messageId, text, reasoning, providerState } = event;
  const usage = addUsage(state.usage, event.usage);
  const spentUsd = state.spentUsd + event.costUsd;
  const repetition = repetitionOf(event.calls, state.repetition);
  const wanted = event.end === 'refused' ? [] : event.calls;
  const { kept, fit, failures } = judgedCalls(keptCalls(event), limits, event.at);
  const queued = queuedCalls(fit, { policy: state.policy, repetition }, limits);
  const calls = queued.map(({ call }) => call);
  const asked = kept.map(({ callId, name, args }) => ({ callId, name, args }));
  const isSilent = text === '' && asked.length === 0;
  const answer: StepOutput = {
    log: [
      ...(reasoning === undefined ? [] : [{ type: 'reasoning' as const, data: { messageId, ...reasoning } }]),
      ...(text === ''
        ? []
        : [{ type: 'message' as const, data: { messageId, role: 'assistant' as const, text } }]),
    ],
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
  if (kept.length === 0) {
    const spent = { ...state, usage, spentUsd };
    if (wanted.length > 0) {
      const told = { log: leftOut(wanted.length, 0), history: [] };
      return followedBy(answer, followedBy(told, endOverBudget(spent, text)));
    }
    const stopReason = event.end === 'tool_use' ? 'end_turn' : event.end;
    return followedBy(answer, tellLoss(spent, event, limits) ?? end(spent, stopReason, text));
  }
  const asking: StepOutput = {
    log: [
      ...asked.map((data) => ({ type: 'tool:call' as const, data })),
      ...leftOut(wanted.length, kept.length),
      ...failures.log,
      ...allowedEntries(state.turnId, queued),
      ...firstApproval(state.turnId, calls),
    ],
    history: failures.history,
  };
  const next: Deciding = { ...state, kind: 'deciding', usage, spentUsd, repetition, calls };
  return followedBy(answer, followedBy(asking, queueStep(next, limits)));
};

/** Files that were not saved are told to the model once for each sandbox, before its answer ends the turn: it answers again. */
const tellLoss = (
  state: Thinking,
  { messageId, end: answerEnd, files = {} }: EventOf<'model-answered'>,
  limits: TurnLimits,
): TurnStep | undefined => {
  const { lost, savedAt, generation } = files;
  if (lost === undefined || isKnownLoss(state, files) || answerEnd === 'refused') return undefined;
  if (state.step >= limits.stepsMax || isOverBudget(state, limits)) return undefined;
  const notice = {
    role: 'user' as const,
    messageId: noticeId(messageId),
    text: lossNotice(lost, savedAt),
  };
  const { knowsLossOf: _, ...before } = state;
  const known = {
    knowsLoss: true as const,
    ...(generation === undefined ? {} : { knowsLossOf: generation }),
  };
  return { state: { ...before, ...known, step: state.step + 1 }, log: [], history: [notice] };
};

/** The model wrote the arguments itself: of long ones it reads the ends again. The log and the queue have them whole. */
const shortened = <Asked extends { readonly args: JsonObject }>(
  asked: readonly Asked[],
): readonly Asked[] => {
  const bytesMax = Math.floor(historyArgumentsBytesMax / asked.length);
  return asked.map((call) => ({ ...call, args: cutTextsMiddle(call.args, bytesMax) }));
};

const modelFailed = (
  state: Thinking,
  { code, message, origin, partial, known }: EventOf<'model-failed'>,
): TurnStep =>
  followedBy(
    partialAnswer(partial),
    followedBy(
      { log: [{ type: 'agent:error', data: { code, message, ...origin } }], history: [] },
      end(withKnown(state, known), code === 'content_refused' ? 'refused' : 'error', ''),
    ),
  );

/** A call without an answer counts with what is known of it. */
export const withKnown = <State extends Running>(state: State, known: KnownUsage | undefined): State =>
  known === undefined
    ? state
    : {
        ...state,
        usage: addUsage(state.usage, known.usage),
        spentUsd: state.spentUsd + known.costUsd,
      };

/** The text of an answer that broke off stays, for the person and for the model. */
export const partialAnswer = (partial: PartialAnswer | undefined): StepOutput =>
  partial === undefined
    ? { log: [], history: [] }
    : {
        log: [{ type: 'message', data: { ...partial, role: 'assistant', partial: true } }],
        history: [{ role: 'assistant', ...partial, calls: [] }],
      };
