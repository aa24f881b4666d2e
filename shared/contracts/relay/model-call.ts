/**
 * A request of a program inside a sandbox to a model provider, as it crosses the relay: a line of JSON, its head, then its body as the
 * program wrote it. The answer has the same form.
 */
import * as z from 'zod';
import { brokerProviders } from '#shared/domain/broker/provider.ts';
import { onFirstUse } from '../on-first-use.ts';

const pathCharactersMax = 512;
const methodCharactersMax = 16;
const headBytesMax = 4096;

export const modelRequestHead = onFirstUse(() =>
  z.strictObject({
    provider: z.enum(brokerProviders),
    method: z.string().max(methodCharactersMax),
    path: z.string().startsWith('/').max(pathCharactersMax),
  }),
);
export type ModelRequestHead = z.output<ReturnType<typeof modelRequestHead>>;

export const modelAnswerHead = onFirstUse(() =>
  z.object({
    status: z.int().min(200).max(599),
    contentType: z.string().max(200),
  }),
);
export type ModelAnswerHead = z.output<ReturnType<typeof modelAnswerHead>>;

const newline = 10;

export const encodeHead = (head: ModelRequestHead | ModelAnswerHead): Uint8Array =>
  new TextEncoder().encode(`${JSON.stringify(head)}\n`);

/** The head of the bytes and what follows it; undefined while its line is not whole. Throws for a head that is none. */
export const splitHead = <Schema extends z.ZodType>(
  schema: Schema,
  bytes: Uint8Array,
): { readonly head: z.output<Schema>; readonly rest: Uint8Array } | undefined => {
  const end = bytes.indexOf(newline);
  if (end > headBytesMax || (end < 0 && bytes.length > headBytesMax))
    throw new Error('a head over its bound');
  if (end < 0) return undefined;
  const head = schema.parse(JSON.parse(new TextDecoder().decode(bytes.subarray(0, end))));
  return { head, rest: bytes.subarray(end + 1) };
};
