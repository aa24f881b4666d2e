/**
 * What was said in a session and is not in its log yet: it outlives a reload, and is shown again below what the log has.
 *
 * The server knows a message by its id and takes it once, so that whatever may not have arrived is sent again.
 */

import type { Frame } from '#sdk/frames.ts';
import { rememberedUnsent, rememberUnsent, type Unsent } from '../access/remembered.ts';
import type { Item, Items, QuestionItem } from './items.ts';

export type Outbox = {
  /** What a reload took from the page, once, when the log has been told to its end. */
  readonly missingAfter: (frame: Frame, items: Items) => readonly Unsent[];
  /** Remembers what is unsent by now. */
  readonly keep: (items: Items) => void;
};

export const isUnsent = (item: Item): item is QuestionItem =>
  item.kind === 'question' && item.delivery === 'sending';

export const openOutbox = (sessionId: string): Outbox => {
  let remembered = rememberedUnsent(sessionId);
  let logEnd = Number.POSITIVE_INFINITY;
  let heardSeq = -1;
  return {
    missingAfter: (frame, items) => {
      if (frame.type === 'system:ready') logEnd = frame.data.lastSeq;
      heardSeq = Math.max(heardSeq, frame.seq ?? -1);
      if (remembered.length === 0 || heardSeq < logEnd) return [];
      const missing = remembered.filter(({ id }) => !items.some((item) => item.id === id));
      remembered = [];
      return missing;
    },
    keep: (items) => {
      if (remembered.length === 0) rememberUnsent(sessionId, items.filter(isUnsent));
    },
  };
};
