/**
 * Messages of the conversation as items: written as JSON, or as compressed JSON where that is smaller; read
 * either way.
 */
import { gunzipSync, gzipSync } from 'node:zlib';
import { decodeStored } from '#shared/contracts/decode.ts';
import { historyRecord } from '#shared/contracts/stored/session-records.ts';
import type { HistoryMessage } from '#shared/domain/history.ts';
import { messageTextBytesMax } from '#shared/domain/limits.ts';
import { fitsOneItem, itemsOf, wholePacked } from './item-parts.ts';
import type { Item, Key } from './table.ts';

export type HistoryOptions = { readonly compressesHistory: boolean };

export const plainHistory: HistoryOptions = { compressesHistory: false };

/** A longer one is always compressed: an item has room for 400 KB. */
const packedFromCharacters = 64 * 1024;
/** JSON may write a character in six; a longer claimed size is not unpacked. */
const messageBytesMax = 8 * messageTextBytesMax;

/** A long message is compressed, then cut. The first item is the message itself. */
export const messageItems = (
  key: Key,
  message: HistoryMessage,
  { compressesHistory }: HistoryOptions,
): readonly [Item, ...Item[]] => {
  const text = JSON.stringify(message);
  if (!compressesHistory && text.length < packedFromCharacters) return [{ ...key, message: text }];
  const packed = gzipSync(text);
  const bytes = Buffer.byteLength(text);
  return packed.length < bytes || !fitsOneItem(bytes) ? itemsOf(key, packed) : [{ ...key, message: text }];
};

/** The message as JSON, with its parts among the items. */
export const messageJson = (item: Item, items: readonly Item[]): string => {
  const packed = wholePacked(item, items);
  return packed === undefined
    ? String(item['message'])
    : gunzipSync(packed, { maxOutputLength: messageBytesMax }).toString();
};

export const decodeMessage = (json: string): HistoryMessage => decodeStored(historyRecord, JSON.parse(json));

export const messageFrom = (item: Item, items: readonly Item[]): HistoryMessage =>
  decodeMessage(messageJson(item, items));
