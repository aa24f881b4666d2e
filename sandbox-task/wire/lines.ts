/**
 * Lines of a stream of bytes, each bounded: a longer one is skipped and reported.
 *
 * Bytes are copied into one buffer: a program that writes them one at a time must not cost an object for each.
 */

type LineReader = { readonly push: (chunk: Buffer) => void };

type LineReaderOptions = {
  readonly bytesMax: number;
  /** The bytes are good until it returns. */
  readonly onLine: (line: Buffer) => void;
  readonly onOverlong: () => void;
};

const newline = 10;
const bufferBytesMin = 16 * 1024;
/** A larger buffer, made for one long line, is released after it. */
const keptBytesMax = 1_048_576;

export const createLineReader = ({ bytesMax, onLine, onOverlong }: LineReaderOptions): LineReader => {
  let buffer = Buffer.alloc(0);
  let used = 0;
  let isSkipping = false;
  const append = (bytes: Buffer): void => {
    if (isSkipping) return;
    if (used + bytes.length > bytesMax) {
      isSkipping = true;
      used = 0;
      buffer = Buffer.alloc(0);
      onOverlong();
      return;
    }
    if (used + bytes.length > buffer.length) {
      const grown = Buffer.allocUnsafe(Math.max(bufferBytesMin, 2 * (used + bytes.length)));
      buffer.copy(grown, 0, 0, used);
      buffer = grown;
    }
    used += bytes.copy(buffer, used);
  };
  const endLine = (): void => {
    const line = buffer.subarray(0, used);
    const isWhole = !isSkipping;
    isSkipping = false;
    used = 0;
    if (isWhole && line.length > 0) onLine(line);
    if (buffer.length > keptBytesMax) buffer = Buffer.alloc(0);
  };
  return {
    push: (chunk) => {
      let from = 0;
      for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
        append(chunk.subarray(from, at));
        endLine();
        from = at + 1;
      }
      append(chunk.subarray(from));
    },
  };
};
