/**
 * JSON as a readonly type: the type of a tool's arguments, an event's data and a stored state. JSON from outside has a size
 * and a depth that the rest of the program can take, and long texts are cut.
 *
 * The depth is counted without recursion: a value nested ten thousand times would overflow the stack of every
 * function that walks it, JSON.stringify among them.
 */
import { cutBytes, cutMiddle, gapCharactersMax, utf8Bytes } from './text.ts';

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

type JsonBounds = { readonly bytesMax: number; readonly depthMax: number };

export const isWithin = (value: unknown, { bytesMax, depthMax }: JsonBounds): boolean =>
  isShallow(value, depthMax) && utf8Bytes(JSON.stringify(value) ?? '') <= bytesMax;

/** True when no text of a value has half of a surrogate pair: no store takes one, and no canonical form has one. */
export const isWellFormed = (value: unknown): boolean => {
  for (let level: readonly unknown[] = [value]; level.length > 0; level = level.flatMap(valuesOf))
    for (const item of level) if (!textsOf(item).every((text) => text.isWellFormed())) return false;
  return true;
};

export const isShallow = (value: unknown, depthMax: number): boolean => {
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > depthMax) return false;
    level = level.flatMap(valuesOf);
  }
  return true;
};

const valuesOf = (value: unknown): readonly unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value) : [];

/** Its own, or the names of its fields. */
const textsOf = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
};

/**
 * Data whose long texts are cut in the middle, each with its gap marked, so that its JSON has at most about
 * `bytesMax` bytes.
 */
export const cutTextsMiddle = (data: JsonObject, bytesMax: number): JsonObject => {
  let cut = data;
  for (let charactersMax = bytesMax; utf8Bytes(JSON.stringify(cut)) > bytesMax; charactersMax /= 2) {
    if (charactersMax < gapCharactersMax) return {};
    cut = mapTexts(data, (text) => cutMiddle(text, Math.floor(charactersMax))) as JsonObject;
  }
  return cut;
};

/** Names of fields stay. */
export const mapTexts = (value: Json, cut: (text: string) => string): Json => {
  if (typeof value === 'string') return cut(value);
  if (Array.isArray(value)) return value.map((item: Json) => mapTexts(item, cut));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, cut)]));
};

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
    cut = { ...(mapTexts(data, (text) => cutBytes(text, keptBytes)) as JsonObject), truncated: true };
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
