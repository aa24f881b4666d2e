/**
 * The reader of a gzipped tar archive: its entries and their bytes, in order, with one piece in memory.
 *
 * It reads POSIX, pax and GNU archives as `tar`, `git archive` and Python write them. A header with a wrong sum, a
 * name that is not UTF-8, a long name over its bound and a cut archive are refused. Kinds of entries are passed on as they
 * are: the unpacker decides about them.
 */
import { isUtf8 } from 'node:buffer';
import { readSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { sumOf, tarBlockBytes, tarPadding } from '#shared/contracts/tar.ts';
import { FileRefusal } from './workspace-path.ts';

export type TarHeader = {
  readonly name: string;
  /** One character: `0` a file, `1` a hard link, `2` a link, `5` a folder. */
  readonly kind: string;
  readonly size: number;
  readonly mode: number;
  readonly mtimeMs: number;
  readonly linkName: string;
};
/** `long`: a header that only lengthens the fields of the next entry, or of all. */
export type TarPart =
  | { readonly header: TarHeader }
  | { readonly long: TarHeader }
  | { readonly bytes: Buffer };

/** The bytes of a pax header or of a GNU long name. */
const longFieldsBytesMax = 64 * 1024;

/** From the start of the open file, which stays open. */
export async function* readTarGz(descriptor: number): AsyncGenerator<TarPart> {
  const gunzip = createGunzip({ chunkSize: 128 * 1024 });
  // Its failure reaches the reader of the output.
  pipeline(Readable.from(chunksOf(descriptor), { highWaterMark: 1 }), gunzip).catch(() => undefined);
  try {
    yield* entriesOf(createByteReader(gunzip));
  } catch (cause) {
    if (cause instanceof FileRefusal) throw cause;
    throw malformed((cause as Error).message, cause);
  } finally {
    gunzip.destroy();
  }
}

/** A stream of the descriptor would close it when the reader stops early. */
function* chunksOf(descriptor: number): Generator<Buffer> {
  for (let at = 0; ; ) {
    const chunk = Buffer.allocUnsafe(readBytesMax);
    const read = readSync(descriptor, chunk, 0, readBytesMax, at);
    if (read === 0) return;
    at += read;
    yield chunk.subarray(0, read);
  }
}

const readBytesMax = 128 * 1024;

async function* entriesOf(input: ByteReader): AsyncGenerator<TarPart> {
  let long: LongFields = {};
  for (;;) {
    const block = await input.take(tarBlockBytes);
    if (block.every((byte) => byte === 0)) return;
    const header = decodeHeader(block);
    if (isLong(header.kind)) {
      yield { long: header };
      const body = await takeLong(input, header.size);
      if (header.kind !== 'g') long = { ...long, ...longFieldsOf(header.kind, body) };
      continue;
    }
    const whole = { ...header, ...long };
    long = {};
    yield { header: whole };
    // Links and folders have no content, whatever their header says of its size (pax(1)).
    if (!hasContent(whole.kind)) continue;
    for await (const bytes of input.pieces(whole.size)) yield { bytes };
    await input.take(tarPadding(whole.size));
  }
}

const isLong = (kind: string): boolean => ['x', 'g', 'L', 'K'].includes(kind);
const hasContent = (kind: string): boolean => !['1', '2', '3', '4', '5', '6'].includes(kind);

const takeLong = async (input: ByteReader, size: number): Promise<Buffer> => {
  if (size > longFieldsBytesMax) throw malformed('a name in it is too long');
  const body = await input.take(size);
  await input.take(tarPadding(size));
  return body;
};

const decodeHeader = (block: Buffer): TarHeader => {
  if (octal(block, 148, 8) !== sumOf(block)) throw malformed('the sum of a header is wrong');
  const isPosix = block.toString('latin1', 257, 263) === 'ustar\0';
  const prefix = isPosix ? text(block, 345, 155) : '';
  const name = text(block, 0, 100);
  return {
    name: prefix === '' ? name : `${prefix}/${name}`,
    kind: block[156] === 0 ? '0' : String.fromCharCode(block[156] ?? 0),
    size: octal(block, 124, 12),
    mode: octal(block, 100, 8),
    mtimeMs: octal(block, 136, 12) * 1000,
    linkName: text(block, 157, 100),
  };
};

const text = (block: Buffer, at: number, bytes: number): string => {
  const field = block.subarray(at, at + bytes);
  const end = field.indexOf(0);
  return decodeText(end < 0 ? field : field.subarray(0, end));
};

const decodeText = (bytes: Buffer): string => {
  if (!isUtf8(bytes)) throw malformed('a name in it is not UTF-8');
  return bytes.toString();
};

/** A number in base 256 is over every bound here, but for times before 1970 or far from now. */
const octal = (block: Buffer, at: number, bytes: number): number => {
  const field = block
    .toString('latin1', at, at + bytes)
    .replace(/[\0 ]+$/, '')
    .trim();
  if (field === '') return 0;
  if (/^[0-7]+$/.test(field)) return Number.parseInt(field, 8);
  if (at === 136) return 0;
  throw malformed('a number in it cannot be read');
};

type LongFields = Partial<Pick<TarHeader, 'name' | 'linkName' | 'size' | 'mtimeMs'>>;

const longFieldsOf = (kind: string, body: Buffer): LongFields => {
  if (kind === 'L') return { name: text(body, 0, body.length) };
  if (kind === 'K') return { linkName: text(body, 0, body.length) };
  let fields: LongFields = {};
  for (let at = 0; at < body.length; ) {
    const space = body.indexOf(0x20, at);
    const length = Number(body.toString('latin1', at, space));
    if (space < 0 || !Number.isInteger(length) || length <= space - at || at + length > body.length)
      throw malformed('a pax header cannot be read');
    const record = decodeText(body.subarray(space + 1, at + length - 1));
    fields = { ...fields, ...paxField(record) };
    at += length;
  }
  return fields;
};

/** Another time is that of the header: one that no file can have would break the unpacking off in its middle. */
const seconds = /^\d{1,11}(?:\.\d*)?$/;

const paxField = (record: string): LongFields => {
  const key = record.slice(0, record.indexOf('='));
  const value = record.slice(key.length + 1);
  if (key.startsWith('GNU.sparse')) throw malformed('sparse files in it cannot be read');
  if (key === 'path') return { name: value };
  if (key === 'linkpath') return { linkName: value };
  if (key === 'mtime' && seconds.test(value)) return { mtimeMs: Number(value) * 1000 };
  if (key !== 'size') return {};
  if (!/^\d{1,15}$/.test(value)) throw malformed('a size in it cannot be read');
  return { size: Number(value) };
};

const malformed = (why: string, cause?: unknown): FileRefusal =>
  new FileRefusal('invalid_request', `the archive is no tar.gz that can be read: ${why}`, { cause });

type ByteReader = {
  readonly take: (count: number) => Promise<Buffer>;
  readonly pieces: (count: number) => AsyncGenerator<Buffer>;
};

const createByteReader = (source: AsyncIterable<Buffer>): ByteReader => {
  const chunks = source[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  const more = async (): Promise<void> => {
    const { value, done } = await chunks.next();
    if (done) throw malformed('it ends too early');
    rest = rest.length === 0 ? value : Buffer.concat([rest, value]);
  };
  const cut = (count: number): Buffer => {
    const piece = rest.subarray(0, count);
    rest = rest.subarray(count);
    return piece;
  };
  return {
    async take(count) {
      while (rest.length < count) await more();
      return cut(count);
    },
    async *pieces(count) {
      for (let left = count; left > 0; ) {
        if (rest.length === 0) await more();
        const piece = cut(Math.min(left, rest.length));
        left -= piece.length;
        yield piece;
      }
    },
  };
};
