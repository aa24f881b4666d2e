/**
 * Messages of a session that are not in its log: they survive a reload and are shown below the log. A refused one waits for a
 * person, who sends it again or edits it.
 *
 * The server accepts a message id once, so that a message that may not have arrived is sent again.
 */

import type { Frame } from '#sdk/frames.ts';
import { rememberedUnsent, rememberUnsent, type Unsent } from '../access/remembered.ts';
import type { Item, Items, QuestionItem } from './items.ts';

export type Outbox = {
  /** Messages that a reload lost, once, after the replay of the log. */
  readonly missingAfter: (frame: Frame, items: Items) => readonly Unsent[];
  /** The same, once, where no log comes. */
  readonly missingAtEnd: (items: Items) => readonly Unsent[];
  /** Stores the unsent messages. */
  readonly keep: (items: Items) => void;
};

export const isUnsent = (item: Item): item is QuestionItem =>
  item.kind === 'question' && item.delivery === 'sending';

const isKept = (item: Item): item is QuestionItem => item.kind === 'question' && item.delivery !== 'accepted';

export const openOutbox = (sessionId: string): Outbox => {
  let remembered = rememberedUnsent(sessionId);
  let logEnd = Number.POSITIVE_INFINITY;
  let lastSeq = -1;
  const takeMissing = (items: Items): readonly Unsent[] => {
    const missing = remembered.filter(({ id }) => !items.some((item) => item.id === id));
    remembered = [];
    return missing;
  };
  return {
    missingAtEnd: takeMissing,
    missingAfter: (frame, items) => {
      if (frame.type === 'system:ready') logEnd = frame.data.lastSeq;
      lastSeq = Math.max(lastSeq, frame.seq ?? -1);
      if (remembered.length === 0 || lastSeq < logEnd) return [];
      return takeMissing(items);
    },
    keep: (items) => {
      // Those of before the replay are no items yet, and are older than what was written since.
      const earlier = remembered.filter(({ id }) => !items.some((item) => item.id === id));
      rememberUnsent(sessionId, [...earlier, ...items.filter(isKept)]);
    },
  };
};
