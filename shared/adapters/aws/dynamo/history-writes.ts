/** Writes of a conversation: new messages, each in one item or in several, and deletions of old ones, as many as have room. */
import type { HistoryMessage } from '#shared/domain/history.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import type { TurnRecord } from '#shared/domain/turn/turn.ts';
import type { TurnCommit } from '#shared/ports/turn-store.ts';
import { type HistoryOptions, messageItems } from './history-items.ts';
import { keysOf } from './item-parts.ts';
import { type Item, type Key, keys } from './table.ts';

type Parts = NonNullable<TurnRecord['historyParts']>;

type NewMessages = {
  readonly history: readonly HistoryMessage[];
  /** The index of the first of them. */
  readonly first: number;
};

export const writtenMessages = (
  id: SessionId,
  { history, first }: NewMessages,
  options: HistoryOptions,
): { readonly items: readonly Item[]; readonly parts: Parts } => {
  const written = history.map((message, index) =>
    messageItems(keys.message(id, first + index), message, options),
  );
  const long = written.flatMap(({ length }, index) => (length === 1 ? [] : [[first + index, length]]));
  return { items: written.flat(), parts: Object.fromEntries(long) };
};

type Dropped = Pick<TurnCommit, 'session' | 'historyFrom' | 'historyKept' | 'historyParts'>;

/** The oldest messages that no longer count, each with all of its parts, and the first that is then still in the table. */
export const droppedMessages = (
  { session, historyFrom, historyKept: first, historyParts = {} }: Dropped,
  room: number,
): { readonly dropped: readonly Key[]; readonly historyKept: number } => {
  const dropped: Key[] = [];
  for (let index = first; index < historyFrom; index += 1) {
    const own = keysOf(keys.message(session.id, index), historyParts[index]);
    if (dropped.length + own.length > room) return { dropped, historyKept: index };
    dropped.push(...own);
  }
  return { dropped, historyKept: Math.max(first, historyFrom) };
};

/** Those of the messages that are still in the table; none where each is in one item. */
export const partsFrom = (historyKept: number, parts: Parts): Pick<TurnRecord, 'historyParts'> => {
  const kept = Object.entries(parts).filter(([index]) => Number(index) >= historyKept);
  return kept.length === 0 ? {} : { historyParts: Object.fromEntries(kept) };
};
