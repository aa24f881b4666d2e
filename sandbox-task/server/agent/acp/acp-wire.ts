/**
 * The wire of the Agent Client Protocol, version 1, as its client reads it: the fields that are used of what an agent says.
 *
 * Messages of another shape are left out: the agent is user code, and a later version may say more. https://agentclientprotocol.com
 */
import * as z from 'zod';
import type { JsonObject } from '#shared/domain/json.ts';
import type { ProviderName } from '#shared/domain/model.ts';
import type { RuntimeAsks } from '#shared/domain/runtime.ts';

export const protocolVersion = 1;

const id = z.string().min(1).max(256);
const object = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);
const optional = <Schema extends z.ZodType>(schema: Schema) => schema.nullish().catch(undefined);

const textBlock = z.object({ type: z.literal('text'), text: z.string() });
const callContent = z.union([
  z.object({ type: z.literal('content'), content: textBlock }),
  z.object({ type: z.literal('diff'), path: z.string().min(1).max(4096) }),
  z.object({ type: z.string() }).transform(() => ({ type: 'other' as const })),
]);

const callFields = {
  toolCallId: id,
  title: optional(z.string()),
  name: optional(z.string().min(1).max(256)),
  kind: optional(z.string().min(1).max(64)),
  status: optional(z.enum(['pending', 'in_progress', 'completed', 'failed'])),
  rawInput: optional(object),
  rawOutput: optional(z.unknown()),
  content: optional(z.array(callContent)),
};
const calledTool = z.object(callFields);
export type CalledTool = z.output<typeof calledTool>;

const chunk = { content: textBlock, messageId: optional(id) };
export const sessionUpdate = z.object({
  sessionId: id,
  update: z.discriminatedUnion('sessionUpdate', [
    z.object({ sessionUpdate: z.enum(['agent_message_chunk', 'agent_thought_chunk']), ...chunk }),
    z.object({ sessionUpdate: z.enum(['tool_call', 'tool_call_update']), ...callFields }),
  ]),
});
export type SessionUpdate = z.output<typeof sessionUpdate>['update'];

const permissionOption = z.object({ optionId: id, kind: z.string() });
export const permissionRequest = z.object({
  sessionId: id,
  toolCall: calledTool,
  options: z.array(permissionOption).max(20),
});
export type PermissionOption = z.output<typeof permissionOption>;

export const initialized = z.object({
  protocolVersion: z.number(),
  agentCapabilities: optional(z.object({ loadSession: optional(z.boolean()) })),
});
export const sessionMade = z.object({ sessionId: id });
export const promptEnded = z.object({ stopReason: z.string() });

/** An approval of one call: never a rule that the agent would keep, since a person approved this call alone. */
export const optionFor = (
  options: readonly PermissionOption[],
  approved: boolean,
): PermissionOption | undefined => {
  const kinds = approved ? ['allow_once', 'allow_always'] : ['reject_once', 'reject_always'];
  return kinds.map((kind) => options.find((option) => option.kind === kind)).find((option) => option);
};

const reading = ['read', 'search', 'think'];
const editing = ['edit', 'move', 'delete'];

/** The agent asks about what it likes; the mode of the session decides which of it a person is asked. */
export const isAsked = (asks: RuntimeAsks, kind: string | null | undefined): boolean => {
  if (asks === 'nothing') return false;
  if (asks === 'everything' || kind === undefined || kind === null) return true;
  return !reading.includes(kind) && !(asks === 'commands' && editing.includes(kind));
};

/** The broker's port on the sandbox's loopback. */
const broker = 'http://127.0.0.1:19999';

/** Undefined: no model of that provider can be reached from inside a sandbox. Any key will do: the broker has the real one. */
export const modelVariables = (
  provider: ProviderName,
  model: string,
): Readonly<Record<string, string>> | undefined => {
  const named = { SALLYPORT_PROVIDER: provider, SALLYPORT_MODEL: model };
  switch (provider) {
    case 'anthropic':
      return {
        ...named,
        ANTHROPIC_BASE_URL: `${broker}/anthropic`,
        ...{ ANTHROPIC_API_KEY: 'broker', ANTHROPIC_MODEL: model },
      };
    case 'openai':
      return {
        ...named,
        OPENAI_BASE_URL: `${broker}/openai/v1`,
        ...{ OPENAI_API_KEY: 'broker', OPENAI_MODEL: model },
      };
    case 'gemini':
      return {
        ...named,
        GOOGLE_GEMINI_BASE_URL: `${broker}/gemini`,
        ...{ GEMINI_API_KEY: 'broker', GEMINI_MODEL: model },
      };
    case 'bedrock':
    case 'demo':
      return undefined;
  }
};
