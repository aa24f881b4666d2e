/**
 * What was said, among the items: the questions of a person and the answers of the model.
 *
 * Pure; the part of view-state.ts that is about messages. A piece of an answer that is already whole changes nothing.
 */
import type { Frame } from '#sdk/frames.ts';
import type { AnswerItem, Item, Items } from './items.ts';
import { addPiece, emptyStream, type Piece } from './text-stream.ts';

type MessageData = Extract<Frame, { readonly type: 'message' }>['data'];

/** It stands where the log has it, whenever it was written. */
export const acceptQuestion = (items: Items, { messageId, text }: MessageData): Items => [
  ...withoutItem(items, messageId),
  { kind: 'question', id: messageId, text, delivery: 'accepted' },
];

export const addAnswer = (items: Items, { messageId, text }: MessageData): Items => {
  const answer: AnswerItem = { kind: 'answer', id: messageId, text, stream: null };
  const index = items.findLastIndex(({ id }) => id === messageId);
  const whole = withoutHalves(index === -1 ? items : items.with(index, answer));
  // A model that only calls tools says nothing.
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

/** A half answer whose whole never came: the model was asked again, and its first try was dropped. */
const isHalf = (item: Item): boolean => item.kind === 'answer' && item.stream !== null;

export const withoutHalves = (items: Items): Items =>
  items.findLastIndex(isHalf) === -1 ? items : items.filter((item) => !isHalf(item));

const withoutItem = (items: Items, id: string): Items =>
  items.findLastIndex((item) => item.id === id) === -1 ? items : items.filter((item) => item.id !== id);
