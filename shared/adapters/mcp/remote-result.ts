/**
 * The result of a call to a server on the network, in the port's types: text and media, and nothing else.
 *
 * Every block is rebuilt from the known fields, so that none carries more than it shows. A tool that reports a
 * failure has failed, with its own text; one of our error codes in it would be a mere claim and is ignored.
 */
import * as z from 'zod';
import type { ToolContent } from '#shared/domain/event-log.ts';
import { isWithin, type JsonObject } from '#shared/domain/json.ts';
import { toolResultCharactersMax } from '#shared/domain/limits.ts';
import { cutMiddle } from '#shared/domain/text.ts';
import type { ToolOutcome } from '#shared/ports/sandbox.ts';
import { textOf } from '../sandbox/tool-result.ts';

const blocksMax = 100;
const textCharactersMax = 1_048_576;
const nameCharactersMax = 500;
const structuredBounds = { bytesMax: 262_144, depthMax: 64 };

const mediaType = z.string().regex(/^[a-z]+\/[a-z0-9.+-]{1,100}$/i);
const media = { data: z.base64(), mimeType: mediaType };
const resource = z.object({
  uri: z.string(),
  mimeType: z.string().optional().catch(undefined),
  text: z.string().optional().catch(undefined),
  blob: z.base64().optional().catch(undefined),
});
const blockSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image'), ...media }),
  z.object({ type: z.literal('audio'), ...media }),
  z.object({ type: z.literal('resource_link'), uri: z.string(), name: z.string() }),
  z.object({ type: z.literal('resource'), resource }),
]);
const resultSchema = z.object({
  content: z.array(z.unknown()),
  isError: z.boolean().optional(),
  structuredContent: z.unknown().optional(),
});

export const toRemoteOutcome = (answer: unknown): ToolOutcome => {
  const { data } = resultSchema.safeParse(answer);
  if (data === undefined)
    return {
      status: 'failed',
      code: 'tool_failed',
      message: 'the server returned an invalid tool result',
    };
  const content = data.content.length === 0 ? inWords(data.structuredContent) : toContent(data.content);
  if (data.isError) {
    const said = cutMiddle(textOf({ content }), toolResultCharactersMax);
    const message = said === '' ? 'the tool failed without an error message' : said;
    return { status: 'failed', code: 'tool_failed', message };
  }
  return { status: 'finished', content, ...structuredOf(data.structuredContent) };
};

/** A server should say its structured content in text as well (https://modelcontextprotocol.io/specification), and not each does. */
const inWords = (value: unknown): readonly ToolContent[] =>
  value === undefined || value === null || !isWithin(value, structuredBounds)
    ? []
    : [text(JSON.stringify(value))];

const structuredOf = (value: unknown): { readonly structured?: JsonObject } => {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject && isWithin(value, structuredBounds) ? { structured: value as JsonObject } : {};
};

const toContent = (blocks: readonly unknown[]): readonly ToolContent[] => {
  const shown = blocks.slice(0, blocksMax).map(toBlock);
  const more = blocks.length - shown.length;
  return more === 0 ? shown : [...shown, text(`[${more} more blocks were left out]`)];
};

const toBlock = (block: unknown): ToolContent => {
  const { data } = blockSchema.safeParse(block);
  if (data === undefined) return text('[a block that could not be read was left out]');
  switch (data.type) {
    case 'text':
      return text(data.text);
    case 'image':
    case 'audio':
      return { type: data.type, data: data.data, mimeType: data.mimeType };
    case 'resource_link':
      return text(`[${short(data.name)}: ${short(data.uri)}]`);
    case 'resource':
      return fromResource(data.resource);
  }
};

/** An image is shown; other bytes are only named. */
const fromResource = ({ uri, mimeType, text: words, blob }: z.output<typeof resource>): ToolContent => {
  if (words !== undefined) return text(words);
  const type = mediaType.safeParse(mimeType).data ?? 'application/octet-stream';
  if (blob !== undefined && type.startsWith('image/')) return { type: 'image', data: blob, mimeType: type };
  return text(`[${short(uri)}: ${type}, not shown]`);
};

const text = (words: string): ToolContent => ({ type: 'text', text: cutMiddle(words, textCharactersMax) });
const short = (words: string): string => cutMiddle(words, nameCharactersMax);
