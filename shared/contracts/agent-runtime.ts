/**
 * The wire between the turn and a runtime inside the sandbox: the prompt, the numbered events, replies to its questions. The
 * sandbox's server bounds what it passes on; the platform decodes it again, since its source is user code.
 */
import * as z from 'zod';
import { clientIdCharactersMax } from '#shared/domain/limits.ts';
import { providers } from '#shared/domain/model.ts';
import {
  type RuntimeDelta,
  type RuntimeEvent,
  type RuntimeFact,
  type RuntimePrompt,
  type RuntimeReply,
  runtimeAsks,
  runtimeDeltasMax,
  runtimeFactsPerStepMax,
} from '#shared/domain/runtime.ts';
import { agentRuntimes } from '#shared/domain/runtime-name.ts';
import { jsonObject } from './stored/fields.ts';

const id = z.string().min(1).max(clientIdCharactersMax);
const name = z.string().min(1).max(256);
const agent = z.string().max(256).exactOptional();
const tokens = z.number().int().min(0).max(1e9);
/** Longer than any that the sandbox passes on, in UTF-16 units. */
const text = z.string().max(400_000);

export const runtimeFact: z.ZodType<RuntimeFact> = z.discriminatedUnion('type', [
  z.object({ type: z.enum(['text', 'reasoning']), messageId: id, text }),
  z.object({ type: z.literal('call'), callId: id, name, args: jsonObject, agent }),
  z.object({
    type: z.literal('output'),
    callId: id,
    name,
    text,
    isError: z.boolean(),
    durationMs: z.number().int().min(0),
    agent,
  }),
  z.object({
    type: z.literal('step'),
    model: z.string().max(256).exactOptional(),
    usage: z.object({
      inputTokens: tokens,
      outputTokens: tokens,
      cachedInputTokens: tokens.exactOptional(),
      cacheWriteInputTokens: tokens.exactOptional(),
    }),
    agent,
  }),
  z.object({
    type: z.literal('asked'),
    permission: id,
    callId: id.exactOptional(),
    name,
    args: jsonObject,
    agent,
  }),
  z.object({ type: z.literal('file'), path: z.string().min(1).max(4096) }),
  z.object({ type: z.literal('sub-agent'), agent: z.string().max(256) }),
  z.object({ type: z.literal('fault'), message: z.string().max(2000) }),
  z.object({
    type: z.literal('ended'),
    reason: z.enum(['finished', 'aborted', 'failed', 'lost']),
    message: z.string().max(2000).exactOptional(),
  }),
]);

const runtimeEvent: z.ZodType<RuntimeEvent> = z.object({
  number: z.number().int().min(1),
  fact: runtimeFact,
});

const runtimeDelta: z.ZodType<RuntimeDelta> = z.object({
  kind: z.enum(['text', 'reasoning']),
  messageId: id,
  offset: z.number().int().min(0),
  text,
});

/** The body of `PUT /agent/turns/{turn}`, which is given once: a repeat changes nothing. */
export const runtimePrompt: z.ZodType<RuntimePrompt> = z.strictObject({
  runtime: z.enum(agentRuntimes),
  conversation: id,
  text: z.string(),
  instructions: z.string().exactOptional(),
  provider: z.enum(providers),
  model: z.string().min(1).max(256),
  asks: z.enum(runtimeAsks),
});

/** The body of `POST /agent/turns/{turn}/replies`. */
export const runtimeReplies = z.strictObject({
  replies: z
    .array(
      z.object({
        permission: id,
        approved: z.boolean(),
        reason: z.string().exactOptional(),
      }) satisfies z.ZodType<RuntimeReply>,
    )
    .max(runtimeFactsPerStepMax * 2),
});

/** The answer to `GET /agent/turns/{turn}/events?after=&wait=`; what is not after that number is forgotten. */
export const runtimePage = z.object({
  events: z.array(runtimeEvent).max(runtimeFactsPerStepMax),
  deltas: z.array(runtimeDelta).max(runtimeDeltasMax),
});
export type RuntimePage = z.output<typeof runtimePage>;
