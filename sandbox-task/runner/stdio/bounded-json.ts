/**
 * JSON of a bounded number of values: `[[],[],` is three bytes a value and many times that in memory, and the
 * runner has little.
 *
 * They are counted before anything is made of them, by what stands before or between them outside strings.
 */
export const valuesMax = 200_000;

const quote = 0x22;
const backslash = 0x5c;
const marks = new Set([...',:[{'].map((mark) => mark.charCodeAt(0)));

export type BoundedJson = { readonly value: unknown } | 'no JSON' | 'too much';

export const parseBoundedJson = (bytes: Buffer): BoundedJson => {
  if (countValues(bytes) > valuesMax) return 'too much';
  try {
    return { value: JSON.parse(bytes.toString()) };
  } catch {
    return 'no JSON';
  }
};

const countValues = (bytes: Buffer): number => {
  let values = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === quote) at = endOfString(bytes, at);
    else if (marks.has(byte)) values += 1;
  }
  return values;
};

/** Where its closing quote is: one with an even number of backslashes before it. */
const endOfString = (bytes: Buffer, start: number): number => {
  for (let at = bytes.indexOf(quote, start + 1); at >= 0; at = bytes.indexOf(quote, at + 1)) {
    let backslashes = 0;
    while (bytes[at - 1 - backslashes] === backslash) backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
  return bytes.length;
};
