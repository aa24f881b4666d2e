/**
 * The server-sent events of a process's output, as its sandbox writes them; offsets and lengths in bytes.
 *
 * They come from a sandbox and are untrusted: an unknown or a wrong one is passed over.
 */
import * as z from 'zod';

const bytes = z.number().int().nonnegative();
const output = z.object({
  stream: z.enum(['stdout', 'stderr', 'pty']),
  offset: bytes,
  bytes,
  text: z.string(),
});
const gap = z.object({ from: bytes, to: bytes });
const exit = z.object({
  exitCode: z.number().int().nullable(),
  signal: z.string().exactOptional(),
  /** The process went with its sandbox, and its exit code. */
  lost: z.literal(true).exactOptional(),
  /** The process had ended; what was left of its output went with its sandbox. */
  outputLost: z.literal(true).exactOptional(),
});

export type OutputPiece = z.output<typeof output>;
export type OutputEvent =
  | ({ readonly type: 'output' } & OutputPiece)
  | ({ readonly type: 'gap' } & z.output<typeof gap>)
  | ({ readonly type: 'exit' } & z.output<typeof exit>)
  /** The slice is over; the next one begins at this byte. */
  | { readonly type: 'next'; readonly offset: number };

/** One event, as its lines without the empty one after it. */
export const readOutputEvent = (block: string): OutputEvent | undefined => {
  const next = /^:next (\d{1,15})$/.exec(block)?.[1];
  if (next !== undefined) return { type: 'next', offset: Number(next) };
  const [, name, data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
  switch (name) {
    case 'output':
      return withType('output', output.safeParse(parsed(data)).data);
    case 'gap':
      return withType('gap', gap.safeParse(parsed(data)).data);
    case 'exit':
      return withType('exit', exit.safeParse(parsed(data)).data);
    default:
      return undefined;
  }
};

const withType = <Type extends string, Data extends object>(
  type: Type,
  data: Data | undefined,
): ({ readonly type: Type } & Data) | undefined => data && { type, ...data };

const parsed = (data: string): unknown => {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
};
