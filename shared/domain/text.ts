/** Text that must fit: cut on a code point, measured in UTF-8 bytes. */
import type { Json, JsonObject } from './json.ts';

/** Bytes of one code point in UTF-8 (RFC 3629). */
const codePointBytes = (codePoint: number): number =>
  codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x1_0000 ? 3 : 4;

export const utf8Bytes = (text: string): number => {
  let bytes = 0;
  for (const character of text) bytes += codePointBytes(character.codePointAt(0) ?? 0);
  return bytes;
};

/** The longest start of `text` that has at most `bytesMax` bytes; a surrogate pair is never split. */
export const cutBytes = (text: string, bytesMax: number): string => {
  let bytes = 0;
  let end = 0;
  for (const character of text) {
    bytes += codePointBytes(character.codePointAt(0) ?? 0);
    if (bytes > bytesMax) return text.slice(0, end);
    end += character.length;
  }
  return text;
};

/**
 * Data whose long texts are cut in the middle, each with its gap marked, so that its JSON has at most about
 * `bytesMax` bytes.
 */
export const cutTextsMiddle = (data: JsonObject, bytesMax: number): JsonObject => {
  let cut = data;
  for (let charactersMax = bytesMax; utf8Bytes(JSON.stringify(cut)) > bytesMax; charactersMax /= 2) {
    if (charactersMax < gapCharactersMax) return {};
    cut = middleOf(data, Math.floor(charactersMax)) as JsonObject;
  }
  return cut;
};

const middleOf = (value: Json, charactersMax: number): Json => {
  if (typeof value === 'string') return cutMiddle(value, charactersMax);
  if (Array.isArray(value)) return value.map((item: Json) => middleOf(item, charactersMax));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, middleOf(item, charactersMax)]));
};

/** Room for the text of the gap. */
const gapCharactersMax = 50;

/** At most `charactersMax` characters (50 at least), cut in the middle, with the gap marked. */
export const cutMiddle = (text: string, charactersMax: number): string => {
  if (text.length <= charactersMax) return text;
  const half = Math.max(0, Math.floor((charactersMax - gapCharactersMax) / 2));
  const head = wholeEnd(text.slice(0, half));
  const tail = wholeStart(text.slice(text.length - half));
  return `${head}\n... (${text.length - head.length - tail.length} characters left out) ...\n${tail}`;
};

const wholeEnd = (text: string): string => (/[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text);
const wholeStart = (text: string): string => (/^[\uDC00-\uDFFF]/.test(text) ? text.slice(1) : text);

/**
 * Data whose JSON has at most `bytesMax` bytes: its longest texts are cut, and `truncated: true` marks it. Data
 * that is long without long texts loses the contents of its lists and objects, then its fields.
 */
export const cutLongestText = (data: JsonObject, bytesMax: number): JsonObject => {
  const size = (value: Json): number => utf8Bytes(JSON.stringify(value));
  if (size(data) <= bytesMax) return data;
  let keptBytes = bytesMax;
  let cut: JsonObject = data;
  do {
    keptBytes = Math.floor(keptBytes / 2);
    cut = { ...(cutTexts(data, keptBytes) as JsonObject), truncated: true };
  } while (size(cut) > bytesMax && keptBytes > 0);
  if (size(cut) <= bytesMax) return cut;
  const emptied = { ...emptyNested(data, bytesMax), truncated: true };
  return size(emptied) <= bytesMax ? emptied : { truncated: true };
};

/** Retains short texts, numbers and every field's name, so that a reader still knows what the data is about. */
const emptyNested = (data: JsonObject, bytesMax: number): JsonObject => {
  // JSON writes a control character in six bytes.
  const textBytesMax = Math.floor(bytesMax / (8 * Object.keys(data).length));
  const emptied = Object.entries(data).map(([key, value]) => {
    if (Array.isArray(value)) return [key, []];
    if (typeof value === 'object' && value !== null) return [key, {}];
    return [key, typeof value === 'string' ? cutBytes(value, textBytesMax) : value];
  });
  return Object.fromEntries(emptied);
};

const cutTexts = (value: Json, bytesMax: number): Json => {
  if (typeof value === 'string') return cutBytes(value, bytesMax);
  if (Array.isArray(value)) return value.map((item: Json) => cutTexts(item, bytesMax));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cutTexts(item, bytesMax)]));
};
