/**
 * A turn as items: one item, and for a state that does not fit into one (400 KB) further parts beside it.
 *
 * A long state is compressed, then cut. Each part names its version: parts of two versions in one read are no
 * turn, and are read again. Parts that a later version no longer needs are deleted by its commit.
 */
import { gunzipSync, gzipSync } from 'node:zlib';
import { decodeStored } from '#shared/contracts/decode.ts';
import { chainHead, historyParts, tokenMeasure, turnState } from '#shared/contracts/stored/turn-records.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import { answerArgumentsBytesMax, editedBytesMax } from '#shared/domain/limits.ts';
import { noTurn, type TurnRecord } from '#shared/domain/turn/turn.ts';
import { piecesOf } from './item-parts.ts';
import { type Item, keys } from './table.ts';

/** A shorter state is written uncompressed. */
const packedFromCharacters = 64 * 1024;
/** JSON may write a character in six; a longer claimed size is not unpacked. */
const stateBytesMax = 8 * (answerArgumentsBytesMax + editedBytesMax);

/** The first is the turn itself. */
export const turnItems = (id: SessionId, turn: TurnRecord): readonly [Item, ...Item[]] => {
  const { version, state, parts: _, ...rest } = turn;
  const base = { ...keys.turn(id), version, ...rest };
  const text = JSON.stringify(state);
  if (text.length < packedFromCharacters) return [{ ...base, state: text }];
  const pieces = piecesOf(gzipSync(text));
  const others = pieces.slice(1).map((piece, index) => ({
    ...keys.turnPart(id, index + 1),
    version,
    packed: piece,
  }));
  return [{ ...base, parts: pieces.length, packed: pieces[0] }, ...others];
};

/** The number of items, by `turnItems`. */
export const partsOf = (item: Item | undefined): number => Number(item?.['parts'] ?? 1);

/** Undefined when the items are of two versions: to be read again. */
export const turnFrom = (items: readonly Item[]): TurnRecord | undefined => {
  const { sk: first } = keys.turn('');
  const item = items.find(({ sk }) => sk === first);
  if (item === undefined) return noTurn;
  const parts = partsOf(item);
  const text = item['state'] === undefined ? unpacked(item, items, parts) : String(item['state']);
  if (text === undefined) return undefined;
  return {
    version: Number(item['version']),
    historyNext: Number(item['historyNext']),
    historyFrom: Number(item['historyFrom'] ?? 0),
    historyKept: Number(item['historyKept'] ?? 0),
    ...(parts === 1 ? {} : { parts }),
    ...(item['historyParts'] === undefined
      ? {}
      : { historyParts: decodeStored(historyParts, item['historyParts']) }),
    ...(item['decided'] === undefined ? {} : { decided: decodeStored(chainHead, item['decided']) }),
    ...(item['measured'] === undefined ? {} : { measured: decodeStored(tokenMeasure, item['measured']) }),
    state: decodeStored(turnState, JSON.parse(text)),
  };
};

const unpacked = (item: Item, items: readonly Item[], parts: number): string | undefined => {
  const own = items.filter(({ version }) => version === item['version']);
  const pieces = Array.from({ length: parts }, (_, index) =>
    index === 0 ? item : own.find(({ sk }) => sk === keys.turnPart('', index).sk),
  ).map((part) => part?.['packed']);
  if (!pieces.every((piece) => piece instanceof Uint8Array)) return undefined;
  return gunzipSync(Buffer.concat(pieces), { maxOutputLength: stateBytesMax }).toString();
};
