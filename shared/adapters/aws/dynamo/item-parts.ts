/**
 * A compressed text as items: one, and for a text that does not fit into one (400 KB) further parts beside it, which are
 * written and deleted in the same transactions.
 *
 * Each part has the digest of the whole: a read that meets half of a transaction, or parts of another text, is no whole one,
 * and is done again.
 */
import { createHash } from 'node:crypto';
import { type Item, type Key, keyOfPart } from './table.ts';

const partBytesMax = 350 * 1024;

export const fitsOneItem = (bytes: number): boolean => bytes <= partBytesMax;

/** At least one, of the bytes that an item has room for. */
export const piecesOf = (packed: Uint8Array): readonly Uint8Array[] =>
  Array.from({ length: Math.max(1, Math.ceil(packed.length / partBytesMax)) }, (_piece, index) =>
    packed.subarray(index * partBytesMax, (index + 1) * partBytesMax),
  );

/** The first is the item itself. */
export const itemsOf = (own: Item & Key, packed: Uint8Array): readonly [Item, ...Item[]] => {
  const [first, ...others] = piecesOf(packed);
  if (others.length === 0) return [{ ...own, packed: first }];
  const digest = createHash('sha256').update(packed).digest('base64url');
  return [
    { ...own, packed: first, digest, parts: others.length + 1 },
    ...others.map((piece, index) => ({ ...keyOfPart(own, index + 1), packed: piece, digest })),
  ];
};

/** The keys of an item and of its further parts. */
export const keysOf = (key: Key, parts = 1): readonly Key[] => [
  key,
  ...Array.from({ length: parts - 1 }, (_part, index) => keyOfPart(key, index + 1)),
];

/** The keys of its further parts, as the item names them. */
export const furtherKeys = (item: Item): readonly Key[] =>
  keysOf({ pk: String(item['pk']), sk: String(item['sk']) }, Number(item['parts'] ?? 1)).slice(1);

/** False when one of its parts is not among these items. */
export const isWhole = (item: Item, items: readonly Item[]): boolean => packedOf(item, items) !== undefined;

/** The pieces of a compressed text, or of one that is not (none); undefined when a part is missing. */
export const packedOf = (item: Item, items: readonly Item[]): readonly Uint8Array[] | undefined => {
  const others = furtherKeys(item).map(({ sk }) =>
    items.find((part) => part['sk'] === sk && part['digest'] === item['digest']),
  );
  if (others.includes(undefined)) return undefined;
  return [item, ...others].flatMap((part) =>
    part?.['packed'] instanceof Uint8Array ? [part['packed']] : [],
  );
};

/** The bytes of a text that is compressed, undefined for one that is not. */
export const wholePacked = (item: Item, items: readonly Item[]): Uint8Array | undefined => {
  const pieces = packedOf(item, items);
  if (pieces === undefined) throw new Error(`a part of ${item['pk']} ${item['sk']} is missing`);
  const [first, ...others] = pieces;
  return others.length === 0 ? first : Buffer.concat(pieces);
};
