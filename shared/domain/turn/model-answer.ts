/** The transitions out of `thinking`: an answer of the model, its failure, and money that is spent. */
import type { JsonObject } from '../json.ts';
import { historyArgumentsBytesMax } from '../limits.ts';
import { cutTextsMiddle } from '../text.ts';
import { addUsage, allowedEntries, firstApproval, leftOut, queuedCalls } from './call-queue.ts';
import { repetitionOf } from './policy.ts';
import { end, followedBy, queue, type StepOutput } from './step.ts';
import type { Deciding, EventOf, Thinking, TurnLimits, TurnStep } from './turn.ts';

type ThinkingEnd = EventOf<'model-answered'> | EventOf<'model-failed'> | EventOf<'budget-spent'>;

export const thinkingEnded = (state: Thinking, event: ThinkingEnd, limits: TurnLimits): TurnStep => {
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
  const answer: StepOutput = {
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
    return followedBy(answer, end({ ...state, usage, spentUsd }, stopReason, text));
  }
  const asking: StepOutput = {
    log: [
      ...asked.map((data) => ({ type: 'tool:call' as const, data })),
      ...leftOut(wanted.length, calls.length),
      ...allowedEntries(state.turnId, queued),
      ...firstApproval(state.turnId, calls),
    ],
    history: [],
  };
  const next: Deciding = { ...state, kind: 'deciding', usage, spentUsd, repetition, calls };
  return followedBy(answer, followedBy(asking, queue(next, limits)));
};

/** The model wrote the arguments itself: of long ones it reads the ends again. The log and the queue have them whole. */
const shortened = <Asked extends { readonly args: JsonObject }>(
  asked: readonly Asked[],
): readonly Asked[] => {
  const bytesMax = Math.floor(historyArgumentsBytesMax / asked.length);
  return asked.map((call) => ({ ...call, args: cutTextsMiddle(call.args, bytesMax) }));
};

const modelFailed = (state: Thinking, { code, message }: EventOf<'model-failed'>): TurnStep =>
  followedBy(
    { log: [{ type: 'agent:error', data: { code, message } }], history: [] },
    end(state, code === 'content_refused' ? 'refused' : 'error', ''),
  );
