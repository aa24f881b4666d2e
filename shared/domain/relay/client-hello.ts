/**
 * The first bytes of a tunnel: the server name of a TLS ClientHello (RFC 8446, 4.1.2; RFC 6066, 3), read without
 * answering it.
 *
 * The message may be cut into records and pieces anywhere. One that cannot be read to its end is refused, not guessed at.
 */
import { clientHelloBytesMax } from './limits.ts';

export type FirstBytes =
  /** The message is not whole yet. */
  | { readonly kind: 'partial' }
  | { readonly kind: 'plain' }
  /** Without a name when the client sends none. */
  | { readonly kind: 'hello'; readonly serverName?: string }
  | { readonly kind: 'broken' };

const handshakeRecord = 22;
const clientHello = 1;
const serverNameExtension = 0;
const hostNameType = 0;
const recordHeadBytes = 5;
const messageHeadBytes = 4;

export const readFirstBytes = (bytes: Uint8Array): FirstBytes => {
  if (bytes.length === 0) return { kind: 'partial' };
  if (bytes[0] !== handshakeRecord) return { kind: 'plain' };
  const message = messageOf(bytes);
  if (message === undefined) return bytes.length > clientHelloBytesMax ? broken : { kind: 'partial' };
  if (message === 'broken') return broken;
  try {
    return helloOf(createReader(message));
  } catch {
    return broken;
  }
};

const broken = { kind: 'broken' } as const;

/** The handshake message, joined from its records; undefined until it is whole. */
const messageOf = (bytes: Uint8Array): Uint8Array | 'broken' | undefined => {
  const message: number[] = [];
  for (let at = 0; ; ) {
    const record = recordAt(bytes, at);
    if (record === undefined || record === 'broken') return record;
    message.push(...record.content);
    const wanted = wholeLength(message);
    if (message[0] !== clientHello || (wanted ?? 0) > clientHelloBytesMax) return 'broken';
    if (wanted !== undefined && message.length >= wanted)
      return Uint8Array.from(message.slice(messageHeadBytes, wanted));
    if (!record.isWhole) return undefined;
    at += recordHeadBytes + record.content.length;
  }
};

type TlsRecord = { readonly content: Uint8Array; readonly isWhole: boolean };

/** As much of it as there is; undefined without its head. */
const recordAt = (bytes: Uint8Array, at: number): TlsRecord | 'broken' | undefined => {
  const [type, major, , high = 0, low = 0] = bytes.subarray(at, at + recordHeadBytes);
  if (bytes.length - at <= recordHeadBytes) return undefined;
  const length = high * 256 + low;
  if (type !== handshakeRecord || major !== 3 || length === 0) return 'broken';
  const from = at + recordHeadBytes;
  const content = bytes.subarray(from, from + length);
  return { content, isWhole: content.length === length };
};

const wholeLength = ([, high, middle, low]: readonly number[]): number | undefined =>
  high === undefined || middle === undefined || low === undefined
    ? undefined
    : messageHeadBytes + high * 65_536 + middle * 256 + low;

type Reader = {
  readonly number: (bytes: 1 | 2) => number;
  readonly take: (bytes: number) => Uint8Array;
  readonly isDone: () => boolean;
};

/** Throws beyond the end. */
const createReader = (bytes: Uint8Array): Reader => {
  let at = 0;
  const take = (count: number): Uint8Array => {
    if (at + count > bytes.length) throw new Error('the message ends too early');
    at += count;
    return bytes.subarray(at - count, at);
  };
  return {
    take,
    number: (count) => take(count).reduce((value, byte) => value * 256 + byte, 0),
    isDone: () => at === bytes.length,
  };
};

const versionAndRandomBytes = 34;

const helloOf = (reader: Reader): FirstBytes => {
  reader.take(versionAndRandomBytes);
  reader.take(reader.number(1));
  reader.take(reader.number(2));
  reader.take(reader.number(1));
  if (reader.isDone()) return { kind: 'hello' };
  const extensions = createReader(reader.take(reader.number(2)));
  let found: FirstBytes = { kind: 'hello' };
  let names = 0;
  while (!extensions.isDone()) {
    const type = extensions.number(2);
    const data = extensions.take(extensions.number(2));
    if (type !== serverNameExtension) continue;
    names += 1;
    found = nameOf(createReader(data));
  }
  // Two would let each reader choose another one.
  return names > 1 || !reader.isDone() ? broken : found;
};

const nameOf = (reader: Reader): FirstBytes => {
  const list = createReader(reader.take(reader.number(2)));
  const type = list.number(1);
  const name = list.take(list.number(2));
  if (type !== hostNameType || name.length === 0 || !list.isDone() || !reader.isDone()) return broken;
  const serverName = String.fromCharCode(...name).toLowerCase();
  return /^[\x21-\x7e]+$/.test(serverName) ? { kind: 'hello', serverName } : broken;
};
