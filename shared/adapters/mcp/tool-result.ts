/**
 * The result of a sandbox's call, in the port's types.
 *
 * Pure, and it trusts nothing: user code may have written anything into a result. A limit that killed the program
 * is a failure that still carries the output, for the user and the model to see.
 */
import * as z from 'zod';
import { runningMeta } from '#shared/contracts/sandbox-call.ts';
import type { ToolContent } from '#shared/domain/event-log.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import { toolResultCharactersMax } from '#shared/domain/limits.ts';
import { cutMiddle } from '#shared/domain/text.ts';
import { isErrorCode } from '#shared/errors.ts';
import type { AskedOutcome, ToolOutcome, ToolProgress } from '#shared/ports/sandbox.ts';

export type ToolResult = {
  readonly content: readonly ToolContent[];
  readonly isError?: boolean | undefined;
  readonly structuredContent?: unknown;
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
};

const progressSchema = z.object({
  stream: z.enum(['stdout', 'stderr']),
  offset: z.number(),
  text: z.string(),
});
const refusalSchema = z.object({ error: z.object({ type: z.string(), message: z.string() }) });
const limitSchema = z.object({
  error: z.object({ type: z.enum(['execution_timeout', 'resource_limit_exceeded']), message: z.string() }),
  stdout: z.string().catch(''),
  stderr: z.string().catch(''),
});

export const toOutcome = (result: ToolResult): AskedOutcome =>
  result._meta?.[runningMeta] === true ? { status: 'running' } : outcomeOf(result);

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

/** A refusal's text is `{"error": {type, message}}`; anything else is an unexplained fault. */
const refusedOutcome = (text: string): ToolOutcome => {
  const refusal = refusalSchema.safeParse(parse(text));
  if (!refusal.success)
    return { status: 'failed', code: 'internal_error', message: cutMiddle(text, toolResultCharactersMax) };
  const { type, message } = refusal.data.error;
  return { status: 'failed', code: isErrorCode(type) ? type : 'internal_error', message };
};

/** Progress is best effort: unreadable progress is dropped. */
export const decodeProgress = (message: string | undefined): ToolProgress | undefined =>
  progressSchema.safeParse(parse(message ?? '')).data;

/** The text of a result, without its other content. */
export const textOf = ({ content }: Pick<ToolResult, 'content'>): string =>
  content.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n');

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
