/** Messages of the inbox as items; the contracts decode them on the way back. */
import { gunzipSync, gzipSync } from 'node:zlib';
import { decodeStored } from '#shared/contracts/decode.ts';
import { inboxRecord } from '#shared/contracts/stored/session-records.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import { messageTextBytesMax } from '#shared/domain/limits.ts';
import type { InboxMessage } from '#shared/ports/inbox.ts';
import { itemsOf, wholePacked } from './item-parts.ts';
import { type Item, keys } from './table.ts';

/** A long text is compressed, then cut. The first item is the message itself. */
export const inboxItems = (id: SessionId, message: InboxMessage): readonly [Item, ...Item[]] => {
  const { text, parts: _, ...rest } = message;
  const key = keys.inbox(id, message.acceptedAt, message.messageId);
  if (text.length < packedFromCharacters) return [{ ...key, ...rest, text }];
  return itemsOf({ ...key, ...rest }, gzipSync(text));
};

const packedFromCharacters = 64 * 1024;

/** The message, with its parts among the items. */
export const inboxFrom = (item: Item, items: readonly Item[]): InboxMessage => {
  const packed = wholePacked(item, items);
  return decodeStored(
    inboxRecord,
    packed === undefined
      ? item
      : { ...item, text: gunzipSync(packed, { maxOutputLength: 2 * messageTextBytesMax }).toString() },
  );
};
