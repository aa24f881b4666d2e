/**
 * A reader of WebSocket frame headers that only looks at their lengths.
 *
 * The `ws` package hands over whole messages, so a frame over 32 KB inside an allowed message, or a large
 * one sent alone, would pass unseen. This reads the same bytes beside it and reports the first frame that
 * is too long. Layout: RFC 6455, section 5.2.
 */
export type FrameReader = {
  /** True as soon as one frame announced more than the limit. */
  readonly read: (chunk: Uint8Array) => boolean;
};

const maskBit = 0x80;
const maskBytes = 4;
const shortLengthMax = 125;
const length16 = 126;

export const openFrameReader = (frameBytesMax: number): FrameReader => {
  let header: number[] = [];
  /** Mask and payload still to come of the frame whose header was read. */
  let skip = 0;
  let isTooLong = false;

  const readHeaderByte = (byte: number): void => {
    header.push(byte);
    const length = payloadLength(header);
    if (length === undefined) return;
    isTooLong ||= length > frameBytesMax;
    skip = length + (isMasked(header) ? maskBytes : 0);
    header = [];
  };

  return {
    read: (chunk) => {
      let offset = 0;
      while (offset < chunk.length && !isTooLong) {
        if (skip > 0) {
          const step = Math.min(skip, chunk.length - offset);
          skip -= step;
          offset += step;
        } else {
          readHeaderByte(chunk[offset] ?? 0);
          offset += 1;
        }
      }
      return isTooLong;
    },
  };
};

const isMasked = (header: readonly number[]): boolean => ((header[1] ?? 0) & maskBit) !== 0;

/** Undefined until the header has all of its length bytes. */
const payloadLength = (header: readonly number[]): number | undefined => {
  if (header.length < 2) return undefined;
  const short = (header[1] ?? 0) & ~maskBit;
  if (short <= shortLengthMax) return short;
  const extended = header.slice(2);
  if (extended.length < (short === length16 ? 2 : 8)) return undefined;
  return extended.reduce((length, byte) => length * 256 + byte, 0);
};
