/** Text that must fit: cut on a code point, measured in UTF-8 bytes. */
/** Bytes of one code point in UTF-8 (RFC 3629). */
const codePointBytes = (codePoint: number): number =>
  codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x1_0000 ? 3 : 4;

export const utf8Bytes = (text: string): number => {
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    bytes += unit < 0x800 ? 1 : 2;
    // The two units of a pair are one character of four bytes.
    if (isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(at + 1))) at += 1;
  }
  return bytes;
};

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** The longest start of `text` that has at most `bytesMax` bytes; a surrogate pair is never split. */
export const cutBytes = (text: string, bytesMax: number): string => cutTo(text, bytesMax, codePointBytes);

/** One unit of a text takes no more in JSON: `\u0000`. */
const jsonUnitBytesMax = 6;

/** The longest start of `text` that takes at most `bytesMax` bytes in JSON, without the quotes around it. */
export const cutJsonBytes = (text: string, bytesMax: number): string =>
  text.length * jsonUnitBytesMax <= bytesMax ? text : cutTo(text, bytesMax, jsonBytes);

const cutTo = (text: string, bytesMax: number, bytesOf: (codePoint: number) => number): string => {
  let bytes = 0;
  for (let at = 0; at < text.length; ) {
    const codePoint = text.codePointAt(at) ?? 0;
    bytes += bytesOf(codePoint);
    if (bytes > bytesMax) return text.slice(0, at);
    at += codePoint < 0x1_0000 ? 1 : 2;
  }
  return text;
};

/** Control characters that have an escape of two characters: \b, \t, \n, \f and \r. */
const isShortControl = (codePoint: number): boolean =>
  codePoint >= 0x08 && codePoint <= 0x0d && codePoint !== 0x0b;

/** As `JSON.stringify` writes it; half of a surrogate pair is escaped. */
const jsonBytes = (codePoint: number): number => {
  if (codePoint === 0x22 || codePoint === 0x5c || isShortControl(codePoint)) return 2;
  const isEscaped = codePoint < 0x20 || (codePoint >= 0xd800 && codePoint <= 0xdfff);
  return isEscaped ? jsonUnitBytesMax : codePointBytes(codePoint);
};

/** Room for the text of the gap. */
export const gapCharactersMax = 50;

/** At most `charactersMax` characters (50 at least), cut in the middle, with the gap marked. */
export const cutMiddle = (text: string, charactersMax: number): string => {
  if (text.length <= charactersMax) return text;
  const half = Math.max(0, Math.floor((charactersMax - gapCharactersMax) / 2));
  const head = wholeEnd(text.slice(0, half));
  const tail = wholeStart(text.slice(text.length - half));
  return `${head}\n... (${text.length - head.length - tail.length} characters left out) ...\n${tail}`;
};

/** The first characters, and no half of a pair. */
export const firstCharacters = (text: string, charactersMax: number): string =>
  text.length <= charactersMax ? text : wholeEnd(text.slice(0, charactersMax));

/** The last characters, and no half of a pair. */
export const lastCharacters = (text: string, charactersMax: number): string =>
  text.length <= charactersMax ? text : wholeStart(text.slice(text.length - charactersMax));

const wholeEnd = (text: string): string => (/[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text);
const wholeStart = (text: string): string => (/^[\uDC00-\uDFFF]/.test(text) ? text.slice(1) : text);
