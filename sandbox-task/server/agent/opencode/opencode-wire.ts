/**
 * The wire of OpenCode's server, as version 1.18 speaks it: its events, of which only the fields that are used are read, and the
 * settings it is started with.
 *
 * An event of another shape is left out: the program is user code, and a later version may say more.
 */
import * as z from 'zod';
import type { JsonObject } from '#shared/domain/json.ts';
import type { ProviderName } from '#shared/domain/model.ts';
import type { RuntimeAsks } from '#shared/domain/runtime.ts';

const id = z.string().min(1).max(128);
const object = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);
const count = z.number().min(0).catch(0);
const times = z.object({ start: z.number(), end: z.number().exactOptional() });

const toolState = z.discriminatedUnion('status', [
  z.object({ status: z.literal('pending') }),
  z.object({ status: z.literal('running'), input: object }),
  z.object({ status: z.literal('completed'), input: object, output: z.string(), time: times }),
  z.object({ status: z.literal('error'), input: object, error: z.string(), time: times }),
]);

const inMessage = { id, messageID: id, sessionID: id };
const part = z.discriminatedUnion('type', [
  z.object({
    type: z.enum(['text', 'reasoning']),
    ...inMessage,
    text: z.string(),
    time: z.object({ end: z.number().exactOptional() }).exactOptional(),
  }),
  z.object({
    type: z.literal('tool'),
    ...inMessage,
    callID: id,
    tool: z.string().min(1).max(256),
    state: toolState,
  }),
  z.object({
    type: z.literal('step-finish'),
    ...inMessage,
    tokens: z.object({
      input: count,
      output: count,
      reasoning: count,
      cache: z.object({ read: count, write: count }),
    }),
  }),
]);
export type Part = z.output<typeof part>;

const failure = z.object({
  name: z.string(),
  data: z.object({ message: z.string().optional() }).optional(),
});

const of = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.object({ type: z.literal(type), properties: z.object(shape) });

export const opencodeEvent = z.discriminatedUnion('type', [
  of('session.created', {
    info: z.object({ id, parentID: id.exactOptional(), title: z.string().catch('') }),
  }),
  of('session.status', {
    sessionID: id,
    status: z.object({
      type: z.string(),
      attempt: z.number().exactOptional(),
      message: z.string().exactOptional(),
    }),
  }),
  of('session.idle', { sessionID: id }),
  of('session.error', { sessionID: id.exactOptional(), error: failure.exactOptional() }),
  of('message.updated', {
    info: z.object({ id, sessionID: id, role: z.string(), modelID: z.string().max(256).exactOptional() }),
  }),
  of('message.part.updated', { part }),
  of('message.part.delta', { sessionID: id, partID: id, field: z.string(), delta: z.string() }),
  of('permission.asked', {
    id,
    sessionID: id,
    permission: z.string().min(1).max(256),
    patterns: z.array(z.string()).catch([]),
    metadata: object.catch({}),
    tool: z.object({ callID: id }).exactOptional(),
  }),
  of('file.edited', { file: z.string().min(1).max(4096) }),
]);
export type OpencodeEvent = z.output<typeof opencodeEvent>;

export const createdSession = z.object({ id });
export const listedSessions = z.array(
  z.object({ id, title: z.string().catch(''), time: z.object({ updated: z.number().catch(0) }) }),
);

/** The broker's port on the sandbox's loopback; the paths of the providers' own interfaces. */
const broker = 'http://127.0.0.1:19999';
const models: Readonly<
  Record<ProviderName, { readonly provider: string; readonly address: string } | undefined>
> = {
  anthropic: { provider: 'anthropic', address: `${broker}/anthropic/v1` },
  openai: { provider: 'openai', address: `${broker}/openai/v1` },
  gemini: { provider: 'google', address: `${broker}/gemini/v1beta` },
  bedrock: undefined,
  demo: undefined,
};

/** Undefined: no model of that provider can be reached from inside a sandbox. */
export const modelOf = (provider: ProviderName, model: string) => {
  const known = models[provider];
  return known && { providerID: known.provider, modelID: model };
};

/** The program's settings: one model, which the broker reaches; nothing of it updates itself, shares or asks in its own terminal. */
export const settingsOf = (provider: ProviderName, model: string): JsonObject => {
  const known = models[provider];
  const name = known?.provider ?? provider;
  return {
    provider: {
      [name]: {
        // The broker puts the key where this stands; the sandbox has none.
        options: { baseURL: known?.address ?? '', apiKey: 'broker' },
        models: { [model]: { name: model, tool_call: true } },
      },
    },
    enabled_providers: [name],
    model: `${name}/${model}`,
    small_model: `${name}/${model}`,
    permission: { question: 'deny' },
    autoupdate: false,
    share: 'disabled',
    snapshot: false,
  };
};

type Rule = { readonly permission: string; readonly pattern: '*'; readonly action: 'ask' | 'allow' | 'deny' };

const rule = (permission: string, action: Rule['action']): Rule => ({ permission, pattern: '*', action });
const reading = ['read', 'list', 'glob', 'grep', 'todowrite', 'todoread', 'skill'];

/** The last rule that fits counts. */
export const rulesOf = (asks: RuntimeAsks): readonly Rule[] => [
  rule('*', asks === 'nothing' ? 'allow' : 'ask'),
  ...(asks === 'everything' ? [] : reading.map((name) => rule(name, 'allow'))),
  ...(asks === 'commands' ? [rule('edit', 'allow')] : []),
  rule('question', 'deny'),
];
