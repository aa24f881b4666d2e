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

/** The displayed results, a value that is an image, and the data of tables and charts. */
export const toBlocks = (results: readonly CodeResult[], leftOut: number): readonly Block[] => {
  const shown = results.flatMap((result): readonly Block[] => [
    ...seenByAll(result),
    ...result.parts.flatMap(seenByPeople),
  ]);
  if (leftOut === 0) return shown;
  const text = `[${leftOut} displayed left out: one call shows at most 8 things and 4 MB]`;
  return [...shown, { type: 'text', text }];
};

const seenByAll = ({ isValue, parts }: CodeResult): readonly Block[] => {
  const picture = parts.find(isPicture);
  if (picture !== undefined) {
    const { mimeType, content } = picture;
    return [{ type: 'image', data: content.toString('base64'), mimeType }];
  }
  const text = isValue ? undefined : readable(parts);
  return text === undefined ? [] : [{ type: 'text', text: text.content.toString() }];
};

const tableType = 'application/vnd.dataresource+json';
const chartType = 'application/vnd.sallyport.chart+json';
/** Of one block: a frame of a socket has room for it. */
const dataBytesMax = 12 * 1024;

/**
 * A table or the data of a chart, which are shown to a person; a model has the text or the image of the same result
 * (https://modelcontextprotocol.io/specification/2025-06-18/schema#annotations).
 */
const seenByPeople = ({ mimeType, content }: Part): readonly Block[] => {
  if (mimeType !== tableType && mimeType !== chartType) return [];
  const value = readJson(content.toString());
  const text = JSON.stringify(mimeType === tableType ? firstRows(value) : value) ?? '';
  if (text === '' || Buffer.byteLength(text) > dataBytesMax) return [];
  const resource = { uri: 'sallyport:result', mimeType, text };
  return [{ type: 'resource', resource, annotations: { audience: ['user'] } }];
};

/** A table with the rows that fit into a block. */
const firstRows = (table: unknown): unknown => {
  if (typeof table !== 'object' || table === null || !('data' in table) || !Array.isArray(table.data))
    return undefined;
  const { data: all } = table;
  let left = dataBytesMax - bytesOf({ ...table, data: [] });
  const end = all.findIndex((row) => {
    left -= bytesOf(row) + 1;
    return left < 0;
  });
  return end === -1 ? table : { ...table, data: all.slice(0, end) };
};

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

const isPicture = ({ mimeType }: Part): boolean => mimeType.startsWith('image/');

const readableTypes = ['text/markdown', 'text/plain', 'text/latex', 'application/json', 'text/html'];

const readable = (parts: readonly Part[]): Part | undefined =>
  readableTypes.flatMap((type) => parts.find(({ mimeType }) => mimeType === type) ?? [])[0] ??
  parts.find(({ mimeType }) => isTextType(mimeType) || isJsonType(mimeType));
