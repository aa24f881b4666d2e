/** Code points of UTF-8 (RFC 3629) at the ends of a piece of output. */

/** The first byte that is no continuation byte (10xxxxxx): at most three can precede it in UTF-8. */
export const codePointStart = (bytes: Buffer): number => {
  let start = 0;
  while (start < 3 && start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return start;
};

/** The end of the last whole code point. */
export const wholeEnd = (bytes: Buffer): number => {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
};
