/** The part of its own budget that an agent, or a program of its sandbox, gives to a child: its arguments, and what they mean. */
import * as z from 'zod';
import type { SliceLimits } from '#shared/domain/tree-slice.ts';

/** A week. */
const secondsMax = 604_800;
const whole = z.number().int().min(1);

export const sliceFields = {
  max_cost_usd: z
    .number()
    .positive()
    .optional()
    .describe('US dollars that the new session and all sessions below it may spend.'),
  max_total_tokens: whole.optional().describe('Input and output tokens that they may use.'),
  max_tool_calls: whole.optional().describe('Tool calls that they may make.'),
  max_sandbox_seconds: whole
    .optional()
    .describe('Seconds that their sandboxes may run, with a sandbox of its own.'),
  max_egress_bytes: whole
    .optional()
    .describe('Bytes that their sandboxes may exchange with hosts outside, with a sandbox of its own.'),
  max_seconds: whole.max(secondsMax).optional().describe('Time after which they call no model.'),
};

type SliceArguments = z.output<z.ZodObject<typeof sliceFields>>;

/** For the child and all below it; `seconds` from now on. */
export type ChildPart = SliceLimits & { readonly seconds?: number | undefined };

export const partOf = (given: SliceArguments): ChildPart => ({
  usdMax: given.max_cost_usd,
  tokensMax: given.max_total_tokens,
  toolCallsMax: given.max_tool_calls,
  ...(given.max_sandbox_seconds === undefined ? {} : { sandboxMsMax: given.max_sandbox_seconds * 1000 }),
  egressBytesMax: given.max_egress_bytes,
  seconds: given.max_seconds,
});
