/**
 * `aws-chunked`: how the SDK sends a body whose checksum it only knows at the end.
 *
 * Each chunk is its length in hex, an optional signature that nobody here checks, and its bytes; after the
 * empty chunk come trailers. What is cut short is not an object (A25).
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming-trailers.html
 */
import { AwsError } from '../endpoint/aws-error.ts';

export type ChunkedBody = {
  readonly bytes: AsyncIterable<Buffer>;
  /** Complete once `bytes` has ended. */
  readonly trailers: ReadonlyMap<string, string>;
};

const lineBytesMax = 8192;

export const decodeChunked = (source: AsyncIterable<Buffer>): ChunkedBody => {
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
  new AwsError(400, 'IncompleteBody', {
    message: 'You did not provide the number of bytes specified by the Content-Length HTTP header',
  });
