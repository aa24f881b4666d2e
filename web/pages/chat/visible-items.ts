/**
 * Groups of conversation items, so that a long conversation renders only its newest groups. Pure.
 *
 * An unchanged group keeps its identity, so that it is not rendered again.
 */
import type { Item, Items } from '../../session/items.ts';

export const groupItems = 40;
export const groupsShownMin = 4;

export type Group = { readonly key: string; readonly items: readonly Item[] };

/** Groups begin at fixed numbers, counted from the first item: adding one changes the last group alone. */
export const groupsOf = (items: Items, before: readonly Group[]): readonly Group[] =>
  Array.from({ length: Math.ceil(items.length / groupItems) }, (_, index) => {
    const start = index * groupItems;
    const old = before[index];
    return old !== undefined && isSame(old.items, items, start)
      ? old
      : { key: `group-${index}`, items: items.slice(start, start + groupItems) };
  });

const isSame = (group: readonly Item[], items: Items, start: number): boolean =>
  group.length === Math.min(groupItems, items.length - start) &&
  group.every((item, index) => item === items[start + index]);
