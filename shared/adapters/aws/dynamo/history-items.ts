/**
 * Messages of the conversation as items: written as JSON, or as compressed JSON where that is smaller; read
 * either way.
 */
import { gunzipSync, gzipSync } from 'node:zlib';
import { decodeStored } from '#shared/contracts/decode.ts';
import { historyRecord } from '#shared/contracts/stored/session-records.ts';
import type { HistoryMessage } from '#shared/domain/history.ts';
import type { Item } from './table.ts';

export type HistoryOptions = { readonly compressesHistory: boolean };

export const plainHistory: HistoryOptions = { compressesHistory: false };

/** A longer one is always compressed: an item has room for 400 KB. */
const packedFromCharacters = 64 * 1024;
/** Bytes of a message that fits into one item (400 KB); a longer claimed size is not unpacked. */
const messageBytesMax = 4 * 1_048_576;

export const messageItem = (
  key: Readonly<Record<'pk' | 'sk', string>>,
  message: HistoryMessage,
  { compressesHistory }: HistoryOptions,
): Item => {
  const text = JSON.stringify(message);
  if (!compressesHistory && text.length < packedFromCharacters) return { ...key, message: text };
  const packed = gzipSync(text);
  return packed.length < Buffer.byteLength(text) ? { ...key, packed } : { ...key, message: text };
};

/** The message as JSON. */
export const messageJson = ({ message, packed }: Item): string =>
  packed instanceof Uint8Array
    ? gunzipSync(packed, { maxOutputLength: messageBytesMax }).toString()
    : String(message);

export const decodeMessage = (json: string): HistoryMessage => decodeStored(historyRecord, JSON.parse(json));

export const messageFrom = (item: Item): HistoryMessage => decodeMessage(messageJson(item));
