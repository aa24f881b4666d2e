/**
 * Reducers of messages: questions of the user and answers of the model.
 *
 * Pure; used by view-state.ts. A delta of a complete answer changes nothing.
 */
import type { Frame } from '#sdk/frames.ts';
import type { AnswerItem, Item, Items } from './items.ts';
import { addPiece, emptyStream, type Piece } from './text-stream.ts';

type MessageData = Extract<Frame, { readonly type: 'message' }>['data'];

/** Moves the question to its position in the log. */
export const acceptQuestion = (items: Items, { messageId, text }: MessageData): Items => [
  ...withoutItem(items, messageId),
  { kind: 'question', id: messageId, text, delivery: 'accepted' },
];

export const addAnswer = (items: Items, { messageId, text }: MessageData): Items => {
  const answer: AnswerItem = { kind: 'answer', id: messageId, text, stream: null };
  const index = items.findLastIndex(({ id }) => id === messageId);
  const whole = withoutHalves(index === -1 ? items : items.with(index, answer));
  // A model that only calls tools sends no text.
  return index !== -1 || text === '' ? whole : [...whole, answer];
};

export const addDelta = (
  items: Items,
  { messageId, offset, text }: Piece & { readonly messageId: string },
): Items => {
  const index = items.findLastIndex(({ id }) => id === messageId);
  const known = items[index];
  if (known !== undefined && (known.kind !== 'answer' || known.stream === null)) return items;
  const stream = addPiece(known?.stream ?? emptyStream, { offset, text });
  const answer: AnswerItem = { kind: 'answer', id: messageId, text: stream.text, stream };
  return known === undefined ? [...items, answer] : items.with(index, answer);
};

/** A streamed answer that was never completed: the model was called again and its first attempt dropped. */
const isHalf = (item: Item): boolean => item.kind === 'answer' && item.stream !== null;

export const withoutHalves = (items: Items): Items =>
  items.findLastIndex(isHalf) === -1 ? items : items.filter((item) => !isHalf(item));

const withoutItem = (items: Items, id: string): Items =>
  items.findLastIndex((item) => item.id === id) === -1 ? items : items.filter((item) => item.id !== id);
