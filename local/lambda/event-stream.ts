/**
 * The framing of `application/vnd.amazon.eventstream`, encoding only (A23).
 *
 * A message is a 12-byte prelude with its own CRC, headers of which only strings are needed here, the
 * payload, and a CRC over all of it.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html
 */
import { crc32 } from 'node:zlib';

export const eventStreamType = 'application/vnd.amazon.eventstream';

const preludeBytes = 12;
const crcBytes = 4;
const stringHeader = 7;

export const encodeEvent = (eventType: string, contentType: string, payload: Uint8Array): Buffer => {
  const headers = Buffer.concat([
    encodeHeader(':message-type', 'event'),
    encodeHeader(':event-type', eventType),
    encodeHeader(':content-type', contentType),
  ]);
  const total = preludeBytes + headers.length + payload.length + crcBytes;
  const message = Buffer.alloc(total);
  message.writeUInt32BE(total, 0);
  message.writeUInt32BE(headers.length, 4);
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8);
  headers.copy(message, preludeBytes);
  message.set(payload, preludeBytes + headers.length);
  message.writeUInt32BE(crc32(message.subarray(0, total - crcBytes)), total - crcBytes);
  return message;
};

const encodeHeader = (name: string, value: string): Buffer => {
  const prefix = Buffer.from([
    name.length,
    ...Buffer.from(name),
    stringHeader,
    value.length >> 8,
    value.length & 0xff,
  ]);
  return Buffer.concat([prefix, Buffer.from(value)]);
};
