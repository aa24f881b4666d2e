/**
 * The results of code: as MIME bundles for a program, as blocks of a tool's answer for a language model.
 *
 * Pure. The runner's numbers are trusted for nothing but to divide its own payload. A model sees the richest form that
 * it can read: an image, else a text.
 */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { isJsonType, isTextType, jsonBytesMax } from '../wire/program-messages.ts';
import type { Exit } from './user-side.ts';

type Part = { readonly mimeType: string; readonly content: Buffer };
export type CodeResult = { readonly isValue: boolean; readonly parts: readonly Part[] };
export type MimeBundle = Readonly<Record<string, unknown>>;
type Block = CallToolResult['content'][number];

export const readResults = ({ results }: Exit, payload: Buffer): readonly CodeResult[] => {
  let at = 0;
  return results.map(({ isValue, parts }) => ({
    isValue,
    parts: parts.map(({ mimeType, bytes }) => {
      at += bytes;
      return { mimeType, content: payload.subarray(at - bytes, at) };
    }),
  }));
};

/** JSON is a value, an image base64, all else text. */
export const toBundles = (results: readonly CodeResult[]): readonly MimeBundle[] => {
  let jsonBytes = 0;
  const read = ({ mimeType, content }: Part): readonly [string, unknown][] => {
    if (!isJsonType(mimeType))
      return [[mimeType, content.toString(isTextType(mimeType) ? 'utf8' : 'base64')]];
    jsonBytes += content.length;
    const value = jsonBytes > jsonBytesMax ? undefined : readJson(content.toString());
    return value === undefined ? [] : [[mimeType, value]];
  };
  return results.map(({ parts }) => Object.fromEntries(parts.flatMap(read)));
};

const readJson = (text: string): unknown => {
  if (isTooDeep(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Writing JSON takes stack for each level; reading it takes none. */
const depthMax = 200;

const isTooDeep = (text: string): boolean => {
  let depth = 0;
  for (const [sign] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/gs)) {
    if (sign === '[' || sign === '{') depth += 1;
    else if (sign === ']' || sign === '}') depth -= 1;
    if (depth > depthMax) return true;
  }
  return false;
};

/** The text of the last expression's value, where it has no image. */
export const valueText = (results: readonly CodeResult[]): string => {
  const parts = results.find(({ isValue }) => isValue)?.parts ?? [];
  return parts.some(isPicture) ? '' : (readable(parts)?.content.toString() ?? '');
};

/** The displayed results, and a value that is an image. */
export const toBlocks = (results: readonly CodeResult[], leftOut: number): readonly Block[] => {
  const shown = results.flatMap(({ isValue, parts }): readonly Block[] => {
    const picture = parts.find(isPicture);
    if (picture !== undefined) {
      const { mimeType, content } = picture;
      return [{ type: 'image', data: content.toString('base64'), mimeType }];
    }
    const text = isValue ? undefined : readable(parts);
    return text === undefined ? [] : [{ type: 'text', text: text.content.toString() }];
  });
  if (leftOut === 0) return shown;
  const text = `[${leftOut} displayed left out: one call shows at most 8 things and 4 MB]`;
  return [...shown, { type: 'text', text }];
};

const isPicture = ({ mimeType }: Part): boolean => mimeType.startsWith('image/');

const readableTypes = ['text/markdown', 'text/plain', 'text/latex', 'application/json', 'text/html'];

const readable = (parts: readonly Part[]): Part | undefined =>
  readableTypes.flatMap((type) => parts.find(({ mimeType }) => mimeType === type) ?? [])[0] ??
  parts.find(({ mimeType }) => isTextType(mimeType) || isJsonType(mimeType));
