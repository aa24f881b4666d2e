/** Tools of a client, as it offers and answers them over a socket or MCP. */

import * as z from 'zod';
import { callerToolBytesMax, callerToolsMax } from '#shared/domain/caller-tool.ts';
import { type LogEntry, type ToolContent, textOf } from '#shared/domain/event-log.ts';
import { isWithin, type JsonObject } from '#shared/domain/json.ts';
import { clientIdCharactersMax, eventBytesMax, requestBodyBytesMax } from '#shared/domain/limits.ts';
import type { CallerRoute } from '#shared/domain/requested-call.ts';
import { cutMiddle, utf8Bytes } from '#shared/domain/text.ts';
import { schemaDepthMax, toolDescriptionCharactersMax } from './fields.ts';
import { cutData } from './frames.ts';
import { closed, id, orJsonText, text } from './tools/tool-fields.ts';

const name = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'has 1 to 64 letters, digits, underscores and hyphens');
export const callerId = name.describe(
  'Id of the client that offers the tools; the agent sees them as <callerId>_<tool>.',
);

const isSchema = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  ['object', undefined].includes((value as { type?: string }).type) &&
  isWithin(value, { bytesMax: callerToolBytesMax, depthMax: schemaDepthMax });

/** Kept as it was given: a parser's copy could lose unknown fields. */
const inputSchema = z
  .unknown()
  .refine(isSchema, `is a JSON schema of an object, nested at most ${schemaDepthMax} times`)
  .meta({
    type: 'object',
    description: 'JSON schema of the arguments, passed to the model as its provider takes it.',
  })
  .transform((value) => value as JsonObject);

const toolFields = {
  name: name.describe('Name of the tool.'),
  description: z
    .string()
    .max(toolDescriptionCharactersMax)
    .default('')
    .describe('Description for the model.'),
};

type OfferedTool = { readonly name: string; readonly description: string; readonly inputSchema: JsonObject };

const listOf = <Tool extends z.ZodType<OfferedTool>>(tool: Tool) =>
  z
    .array(tool)
    .max(callerToolsMax, `has at most ${callerToolsMax} tools`)
    .refine(
      (list) => utf8Bytes(JSON.stringify(list)) <= callerToolBytesMax,
      `has at most ${callerToolBytesMax} bytes`,
    )
    .refine(
      (list) => new Set(list.map((offered) => offered.name)).size === list.length,
      'names each tool once',
    );

export const offeredTools = listOf(
  z.object({ ...toolFields, inputSchema: inputSchema.default({ type: 'object' }) }),
);

/** As a tool's argument: its schema may be JSON text, since a strict schema has no free-form objects. */
export const offeredToolsArgument = listOf(
  closed({
    ...toolFields,
    inputSchema: orJsonText(inputSchema)
      .optional()
      .transform((schema) => schema ?? { type: 'object' })
      .describe('JSON schema of the arguments, as JSON.'),
  }),
);

export const callerOffer = z.object({ callerId, tools: offeredTools });

type Request = { readonly requestId: string; readonly args: JsonObject };

/** Undefined for arguments that the log would store cut: a client knows them from there alone. */
export const requestToCaller = (
  { caller: callerId, tool: name }: CallerRoute,
  { requestId, args }: Request,
): LogEntry | undefined => {
  const request: LogEntry = { type: 'caller_tool:request', data: { requestId, callerId, name, args } };
  return cutData(request, eventBytesMax) === request.data ? request : undefined;
};

export const tooLargeToAsk = `a client's tool takes arguments of at most ${eventBytesMax / 1024} KB: it was not asked. Write what is long into a file of the workspace, and name the file`;

const errorCharactersMax = 10_000;
const resultDepthMax = 64;
const resultBounds = { bytesMax: requestBodyBytesMax, depthMax: resultDepthMax };

/** Any value. `z.json()` would recurse into it until the stack overflows. */
const callerResult = z
  .unknown()
  .refine((value) => isWithin(value, resultBounds), `is nested at most ${resultDepthMax} times`);

/** `error` wins; an answer without either is empty. */
export const callerAnswer = z.object({
  requestId: z.string().min(1).max(clientIdCharactersMax),
  result: callerResult.optional(),
  error: z.string().max(errorCharactersMax).optional(),
});

const textBlock = z.object({ type: z.literal('text'), text: z.string() });
const imageBlock = z.object({ type: z.literal('image'), data: z.base64(), mimeType: z.string().max(100) });
const blocks = z.array(z.discriminatedUnion('type', [textBlock, imageBlock])).max(100);
const mcpResult = z.object({
  content: z.array(z.unknown()),
  isError: z.unknown().optional(),
  structuredContent: z.unknown().optional(),
});

export type ClientAnswer =
  | { readonly content: readonly ToolContent[] }
  | { readonly code: string; readonly message: string };

/**
 * A text as it is, anything else as JSON; a result of MCP as its blocks, its structured content where it has none, or
 * the failure that it is. Blocks that are neither text nor image are JSON.
 */
export const answerOf = (result: unknown): ClientAnswer => {
  const { data } = mcpResult.safeParse(result);
  if (data === undefined) return { content: said(result) };
  const { content: given, structuredContent: structured } = data;
  const hasWords = given.length > 0 || structured === undefined || structured === null;
  const content = hasWords ? (blocks.safeParse(given).data ?? said(result)) : said(structured);
  if (data.isError !== true) return { content };
  const message = cutMiddle(textOf(content), errorCharactersMax);
  return {
    code: 'tool_failed',
    message: message === '' ? 'the tool failed without an error message' : message,
  };
};

const said = (value: unknown): readonly ToolContent[] => [
  {
    type: 'text',
    text: typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value),
  },
];

/** The arguments of the tool `caller_tool_response`. */
export const callerResponseArguments = closed({
  session_id: id.describe('Id of the session of the agent that called.'),
  request_id: text(clientIdCharactersMax).describe('`requestId` of the event caller_tool:request.'),
  result: callerResult
    .meta({ type: 'string' })
    .optional()
    .describe('Result of the tool: a text, or any value as JSON.'),
  error: text(errorCharactersMax)
    .optional()
    .describe('Error message of the tool; takes precedence over a result.'),
});

export const callerResponseResult = z.object({
  session_id: z.string().describe('Id of the session.'),
  request_id: z.string().describe('Id of the request that was answered.'),
  accepted: z.boolean().describe('True: the answer was the first one, and in time.'),
});
