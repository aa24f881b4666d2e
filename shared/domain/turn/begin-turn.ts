/** The event that begins the turn of a message, or repeats the failed turn of one that the conversation has already. */

import type { Attachment } from '../attachment.ts';
import type { MessageId, TurnId } from '../ids.ts';
import type { EventOf, TurnRecord, TurnState } from './turn.ts';

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
export const isRepeatOf = (state: TurnState, repeats: TurnId): boolean =>
  state.kind === 'done' && state.turnId === repeats && state.failed !== undefined;
