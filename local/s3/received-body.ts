/**
 * The body of an upload: `aws-chunked` decoding, checksums, and the bytes written to a file.
 *
 * In `aws-chunked` each chunk is its length in hex, an optional signature, which is not checked here, and its bytes;
 * trailers follow the empty chunk. A body that is cut short is no object (A25). The MD5 is always computed, since it is
 * the ETag; checksum algorithms that Node.js does not have are refused.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming-trailers.html
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity.html
 */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { crc32 } from 'node:zlib';
import { AwsError } from '../endpoint/http-messages.ts';

type Stored = {
  readonly size: number;
  readonly md5: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** Writes the body to the file; refuses one that is cut short or does not match its checksums. */
export const receive = async (request: IncomingMessage, handle: FileHandle): Promise<Stored> => {
  const { headers } = request;
  const isChunked = String(headers['x-amz-content-sha256']).startsWith('STREAMING-');
  const expected = headers[isChunked ? 'x-amz-decoded-content-length' : 'content-length'];
  if (expected === undefined)
    throw new AwsError(411, 'MissingContentLength', 'You must provide the Content-Length HTTP header.');
  const body = isChunked ? decodeChunked(request) : { bytes: request, trailers: new Map<string, string>() };
  const checksums = openChecksums(headers);
  let size = 0;
  for await (const bytes of body.bytes as AsyncIterable<Buffer>) {
    size += bytes.length;
    checksums.add(bytes);
    await handle.writeFile(bytes);
  }
  if (Number(expected) !== size) {
    throw new AwsError(400, 'IncompleteBody', `${size} of ${expected} bytes arrived`);
  }
  return { size, ...checksums.verify(body.trailers) };
};

/** One that this request names, in a header or in its announced trailers. */
export const hasChecksum = (headers: IncomingHttpHeaders): boolean =>
  headers['content-md5'] !== undefined || announced(headers).length > 0;

type ChunkedBody = {
  readonly bytes: AsyncIterable<Buffer>;
  /** Complete once `bytes` has ended. */
  readonly trailers: ReadonlyMap<string, string>;
};

const lineBytesMax = 8192;

const decodeChunked = (source: AsyncIterable<Buffer>): ChunkedBody => {
  const trailers = new Map<string, string>();
  return { bytes: decode(openReader(source), trailers), trailers };
};

async function* decode(reader: Reader, trailers: Map<string, string>): AsyncGenerator<Buffer> {
  for (;;) {
    const [length = ''] = (await reader.line()).split(';');
    let left = Number.parseInt(length, 16);
    if (!/^[0-9a-f]+$/i.test(length) || !Number.isSafeInteger(left)) throw incomplete();
    if (left === 0) break;
    while (left > 0) {
      const part = await reader.some(left);
      left -= part.length;
      yield part;
    }
    if ((await reader.line()) !== '') throw incomplete();
  }
  for (let line = await reader.line(); line !== ''; line = await reader.line()) {
    const colon = line.indexOf(':');
    trailers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
}

type Reader = {
  /** At least one byte and at most this many. */
  readonly some: (bytesMax: number) => Promise<Buffer>;
  /** The next line, without its CRLF. */
  readonly line: () => Promise<string>;
};

const openReader = (source: AsyncIterable<Buffer>): Reader => {
  const iterator = source[Symbol.asyncIterator]();
  let buffered: Buffer = Buffer.alloc(0);
  const more = async (): Promise<void> => {
    const next = await iterator.next();
    if (next.done === true) throw incomplete();
    buffered = buffered.length === 0 ? next.value : Buffer.concat([buffered, next.value]);
  };
  const take = (bytes: number): Buffer => {
    const taken = buffered.subarray(0, bytes);
    buffered = buffered.subarray(bytes);
    return taken;
  };
  return {
    some: async (bytesMax) => {
      while (buffered.length === 0) await more();
      return take(Math.min(bytesMax, buffered.length));
    },
    line: async () => {
      for (;;) {
        const end = buffered.indexOf('\r\n');
        if (end >= 0) return take(end + 2).toString('latin1', 0, end);
        if (buffered.length > lineBytesMax) throw incomplete();
        await more();
      }
    },
  };
};

const incomplete = (): AwsError =>
  new AwsError(
    400,
    'IncompleteBody',
    'You did not provide the number of bytes specified by the Content-Length HTTP header',
  );

type Digest = { readonly add: (bytes: Buffer) => void; readonly end: () => string };

type Checksums = {
  readonly add: (bytes: Buffer) => void;
  /** The hex MD5 and the header of each verified checksum; throws `BadDigest` if a claim is wrong. */
  readonly verify: (claims: Claims) => Verified;
};

/** Header or trailer name to value, such as `x-amz-checksum-crc32`. */
type Claims = ReadonlyMap<string, string>;

type Verified = { readonly md5: string; readonly headers: Readonly<Record<string, string>> };

const prefix = 'x-amz-checksum-';

const algorithms: Readonly<Record<string, () => Digest>> = {
  crc32: () => {
    let value = 0;
    return {
      add: (bytes) => {
        value = crc32(bytes, value);
      },
      end: () => {
        const result = Buffer.alloc(4);
        result.writeUInt32BE(value);
        return result.toString('base64');
      },
    };
  },
  sha1: () => hash('sha1'),
  sha256: () => hash('sha256'),
};

const hash = (name: string): Digest => {
  const state = createHash(name);
  return { add: (bytes) => void state.update(bytes), end: () => state.digest('base64') };
};

const openChecksums = (headers: IncomingHttpHeaders): Checksums => {
  const md5 = createHash('md5');
  const digests = announced(headers).map((algorithm) => [algorithm, start(algorithm)] as const);
  return {
    add: (bytes) => {
      md5.update(bytes);
      for (const [, digest] of digests) digest.add(bytes);
    },
    verify: (trailers) => {
      const claims = new Map([...headerClaims(headers), ...trailers]);
      const value = md5.digest();
      expectEqual('Content-MD5', headers['content-md5']?.toString(), value.toString('base64'));
      const verified = digests.map(([algorithm, digest]) => {
        const computed = digest.end();
        expectEqual(algorithm.toUpperCase(), claims.get(prefix + algorithm), computed);
        return [prefix + algorithm, computed] as const;
      });
      return { md5: value.toString('hex'), headers: Object.fromEntries(verified) };
    },
  };
};

const headerClaims = (headers: IncomingHttpHeaders): [string, string][] =>
  Object.entries(headers).flatMap(([name, value]) =>
    name.startsWith(prefix) ? [[name, String(value)]] : [],
  );

/** The algorithms named by headers, and by the announced trailers. */
const announced = (headers: IncomingHttpHeaders): string[] => {
  const trailers = String(headers['x-amz-trailer'] ?? '')
    .toLowerCase()
    .split(',');
  const names = [...Object.keys(headers), ...trailers.map((name) => name.trim())];
  const algorithms = names.flatMap((name) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []));
  return [...new Set(algorithms)].filter((algorithm) => !['type', 'mode'].includes(algorithm));
};

const start = (algorithm: string): Digest => {
  const make = algorithms[algorithm];
  if (make === undefined) {
    throw new AwsError(501, 'NotImplemented', `checksum ${algorithm} is not implemented here`);
  }
  return make();
};

const expectEqual = (name: string, claimed: string | undefined, computed: string): void => {
  if (claimed === undefined || claimed === computed) return;
  throw new AwsError(400, 'BadDigest', `The ${name} you specified did not match the calculated checksum.`);
};
