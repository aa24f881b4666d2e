/**
 * The result of a sandbox's call, in the port's types.
 *
 * Pure, and it trusts nothing: user code may have written anything into a result. A limit that killed the program
 * is a failure that still carries the output, for the user and the model to see.
 */
import * as z from 'zod';
import type { ToolContent } from '#shared/domain/event-log.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import { toolResultCharactersMax } from '#shared/domain/limits.ts';
import { cutMiddle } from '#shared/domain/text.ts';
import { isAppError, isErrorCode, UnsentError } from '#shared/errors.ts';
import type { ToolOutcome, ToolProgress } from '#shared/ports/sandbox.ts';

const isContent = (block: unknown): boolean =>
  typeof block === 'object' && block !== null && typeof (block as { type?: unknown }).type === 'string';

const resultSchema = z.object({
  content: z.array(z.custom<ToolContent>(isContent)),
  isError: z.boolean().optional(),
  structuredContent: z.unknown().optional(),
});
type ToolResult = z.output<typeof resultSchema>;

const progressSchema = z.object({
  stream: z.enum(['stdout', 'stderr']),
  offset: z.number(),
  text: z.string(),
});
/** As a tool states it, or the server. */
const refusalSchema = z.object({
  error: z
    .object({ type: z.string(), message: z.string() })
    .or(
      z
        .object({ code: z.string(), message: z.string() })
        .transform(({ code, message }) => ({ type: code, message })),
    ),
});
const limitSchema = z.object({
  error: z.object({ type: z.enum(['execution_timeout', 'resource_limit_exceeded']), message: z.string() }),
  stdout: z.string().catch(''),
  stderr: z.string().catch(''),
});

/** Throws when it is no result of a tool. */
export const toOutcome = (result: unknown): ToolOutcome => outcomeOf(resultSchema.parse(result));

const outcomeOf = (result: ToolResult): ToolOutcome => {
  const structured = objectOf(result.structuredContent);
  if (result.isError) return { ...refusedOutcome(textOf(result)), ...structured };
  const limit = limitSchema.safeParse(result.structuredContent);
  if (!limit.success) return { status: 'finished', content: result.content, ...structured };
  const { error, stdout, stderr } = limit.data;
  const printed = cutMiddle(stdout + stderr, toolResultCharactersMax);
  const message = printed === '' ? error.message : `${error.message}; it had printed:\n${printed}`;
  return { status: 'failed', code: error.type, message, ...structured };
};

const objectOf = (value: unknown): { readonly structured?: JsonObject } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? { structured: value as JsonObject }
    : {};

/** A refusal's text is `{"error": {type, message}}`, or `{"error": {code, message}}` as the body of an answer; anything else is an unexplained fault. */
export const refusedOutcome = (text: string): ToolOutcome => {
  const refusal = refusalSchema.safeParse(parseJson(text));
  if (!refusal.success)
    return { status: 'failed', code: 'internal_error', message: cutMiddle(text, toolResultCharactersMax) };
  const { type, message } = refusal.data.error;
  return { status: 'failed', code: isErrorCode(type) ? type : 'internal_error', message };
};

/** Progress is best effort: unreadable progress is dropped. */
export const toProgress = (output: unknown): ToolProgress | undefined =>
  progressSchema.safeParse(output).data;

/** The text of a result, without its other content. */
export const textOf = ({ content }: { readonly content: readonly ToolContent[] }): string =>
  content.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n');

/** Undefined: it is no JSON. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Of a failure that may repeat a sandbox's text, of any length. */
export const cutMessage = (message: string): string => cutMiddle(message, messageCharactersMax);

const messageCharactersMax = 500;

/** A refusal of ours is final; any other failure says nothing about the call. */
export const unknownOutcome = (error: unknown): ToolOutcome => {
  const message = cutMessage(error instanceof Error ? error.message : String(error));
  if (isAppError(error) && error.code !== 'sandbox_unavailable')
    return { status: 'failed', code: error.code, message };
  return { status: 'lost', message, ...(error instanceof UnsentError ? { isUnsent: true } : {}) };
};

export const lostWith = (status: number | undefined): ToolOutcome => ({
  status: 'lost',
  message: `the sandbox answered with HTTP ${status}`,
});
