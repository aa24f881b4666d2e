/** The beginning of a turn: from a new message, or from one that is already in the conversation and whose turn failed. */

import type { Attachment } from '../attachment.ts';
import type { MessageId, TurnId } from '../ids.ts';
import { noUsage } from '../model.ts';
import { endOverBudget, isOverBudget } from './over-budget.ts';
import type { EventOf, Thinking, TurnLimits, TurnRecord, TurnState, TurnStep } from './turn.ts';
import { end, followedBy, type StepOutput, silently } from './turn-step.ts';

type Asked = {
  readonly messageId: MessageId;
  readonly text: string;
  readonly attachments?: readonly Attachment[];
  readonly model?: string;
  readonly repeats?: TurnId;
};

type Beginning = Pick<EventOf<'started'>, 'at' | 'turnId' | 'policy' | 'spentUsd' | 'runtime'>;

export const startedBy = (
  { messageId, text, attachments, model, repeats }: Asked,
  beginning: Beginning,
): EventOf<'started'> => ({
  type: 'started',
  ...beginning,
  message: { messageId, text, ...(attachments === undefined ? {} : { attachments }) },
  ...(model === undefined ? {} : { model }),
  ...(repeats === undefined ? {} : { repeats }),
});

/** A repetition whose failed turn is no longer the last ends at once, as does a turn whose session has spent its budget. */
export const begin = (before: TurnState, event: EventOf<'started'>, limits: TurnLimits): TurnStep => {
  const { turnId, message, policy, spentUsd, model, repeats, runtime } = event;
  const { messageId } = message;
  const state: Thinking = {
    ...{ kind: 'thinking', turnId, messageId, step: 1, usage: noUsage, spentUsd, policy },
    ...(model === undefined ? {} : { model }),
    ...(runtime === undefined ? {} : { runtime: { name: runtime, starts: 0, taken: 0, replies: [] } }),
  };
  if (repeats !== undefined && !isRepeatOf(before, repeats))
    return followedBy(questionOf(event), end(state, 'cancelled', ''));
  return followedBy(questionOf(event), isOverBudget(state, limits) ? endOverBudget(state) : silently(state));
};

/** A message that is repeated is in the conversation already. */
const questionOf = ({ turnId, message, repeats }: EventOf<'started'>): StepOutput =>
  repeats === undefined
    ? {
        log: [{ type: 'message', data: { ...message, role: 'user' } }],
        history: [{ role: 'user', ...message }],
      }
    : {
        log: [
          { type: 'system', data: { kind: 'turn_retried', messageId: message.messageId, turnId, repeats } },
        ],
        history: [],
      };

/** The turn that runs, or ran last. */
export const turnOf = ({ state }: Pick<TurnRecord, 'state'>): TurnId | undefined =>
  'turnId' in state ? state.turnId : undefined;

export type Repeatable = {
  readonly turnId: TurnId;
  readonly messageId: MessageId;
  readonly model?: string;
};

/** The last turn, when it failed and its message is still in the conversation. */
export const repeatableTurn = ({ state, historyFrom, historyNext }: TurnRecord): Repeatable | undefined =>
  state.kind === 'done' && state.failed !== undefined && historyFrom < historyNext
    ? { turnId: state.turnId, ...state.failed }
    : undefined;

/** A rested turn whose conversation is forgotten: a repetition of it, even one that waits already, would begin with no message. */
export const unrepeatable = (state: TurnState): TurnState => {
  if (state.kind !== 'done') return state;
  const { failed: _, ...rest } = state;
  return rest;
};

/** False when another turn, or a reset, came between the failed one and its repetition. */
const isRepeatOf = (state: TurnState, repeats: TurnId): boolean =>
  state.kind === 'done' && state.turnId === repeats && state.failed !== undefined;
