/**
 * A registered MCP server on its way into the API, and out of it without its secrets.
 *
 * `domain/mcp/validate.ts` decides what may be registered and words the refusals; the bodies here describe what
 * is expected.
 */
import * as z from 'zod';
import { shownStatus } from '#shared/domain/mcp/health.ts';
import {
  mcpCallMsMax,
  mcpCallMsMin,
  mcpNameCharactersMax,
  mcpServersPerProjectMax,
} from '#shared/domain/mcp/limits.ts';
import { maskedConfig, sandboxSecretsWarning } from '#shared/domain/mcp/secrets.ts';
import {
  type McpHealth,
  type McpServer,
  type McpServerConfig,
  type McpTool,
  mcpStatuses,
  mcpTransports,
} from '#shared/domain/mcp/server.ts';
import { givenUuid, iso } from '../fields.ts';

const texts = z.record(z.string(), z.string());
const secretTexts = texts.describe('`$' + '{NAME}` stands for a secret of the project.');
const time = z.iso.datetime();
const serverName = z
  .string()
  .describe(`Letters, numbers, hyphens and underscores, ${mcpNameCharactersMax} at most.`);

const configFields = {
  transport: z.enum(mcpTransports),
  enabled: z.boolean(),
  description: z.string(),
  toolPrefix: z.string().describe('Prefix of the names of its tools, where the project uses prefixes.'),
  timeout: z
    .number()
    .int()
    .min(mcpCallMsMin)
    .max(mcpCallMsMax)
    .describe('Timeout of one call, in milliseconds.'),
  url: z.string().describe('Address of the server; for the transports http and sse.'),
  headers: secretTexts,
  command: z.string().describe('Program of the server; for the transport stdio.'),
  args: z.array(z.string()),
  env: secretTexts,
  cwd: z.string(),
};
const configBody = z.object(configFields).partial().required({ transport: true });

export const addServerBody = z
  .object({ name: serverName, config: configBody })
  .describe(`A project has at most ${mcpServersPerProjectMax} servers.`);

const configChange = z
  .object({
    transport: configFields.transport.optional(),
    enabled: configFields.enabled.nullish(),
    description: configFields.description.nullish(),
    toolPrefix: configFields.toolPrefix.nullish(),
    timeout: configFields.timeout.nullish(),
    url: configFields.url.nullish(),
    headers: configFields.headers.nullish(),
    command: configFields.command.nullish(),
    args: configFields.args.nullish(),
    env: configFields.env.nullish(),
    cwd: configFields.cwd.nullish(),
  })
  .describe('Fields to change; null removes a field.');
/** Given fields replace the existing ones. */
export const changeServerBody = z.union([z.object({ config: configChange }), configChange]);

/** The fields of a change, under `config` as when the server was added, or by themselves. */
export const changedFields = (body: Readonly<Record<string, unknown>>): unknown =>
  Object.hasOwn(body, 'config') ? body['config'] : body;

export const projectQuery = z.object({
  project: givenUuid
    .optional()
    .describe("Id of the project; absent: the token's own project, else the default one."),
});

export const messageAnswer = z.object({ message: z.string(), name: serverName });
export const removedAnswer = messageAnswer.pick({ message: true });

const warning = z
  .string()
  .optional()
  .describe(
    'The secrets of the project that its variables put into sandboxes, where all code can read them.',
  );
export const savedAnswer = messageAnswer.extend({ warning });

const httpStatus = z
  .number()
  .int()
  .optional()
  .describe('Status of HTTP with which the server refused, if it did: 401 where it wants other credentials.');

const shownStatuses = z.enum([...mcpStatuses, 'disabled']);
const seen = {
  lastCheck: time.optional(),
  lastSuccess: time.optional(),
  consecutiveFailures: z.number().int(),
  error: z
    .string()
    .optional()
    .describe('Reason why the server is unhealthy, or a note on tools that were left out.'),
  httpStatus,
};

export const serverAnswer = z
  .object({
    name: serverName,
    enabled: z.boolean(),
    status: shownStatuses,
    config: configBody.describe('Configuration, without the values of secrets.'),
    tools: z.array(z.string()).describe('Names of the tools, as the server last listed them.'),
    toolDescriptions: z
      .record(z.string(), z.string())
      .optional()
      .describe('Descriptions by name, for the tools that have one.'),
    ...seen,
    warning,
    createdAt: time,
  })
  .meta({ id: 'McpServer' });
export const serversAnswer = z.object({ servers: z.array(serverAnswer) });

const count = z.number().int();
export const healthAnswer = z.object({
  summary: z.object({
    total: count.describe('Number of enabled servers.'),
    healthy: count,
    unhealthy: count,
    reconnecting: count,
    disconnected: count,
  }),
  mcps: z.array(
    z.object({
      name: serverName,
      status: z.enum(mcpStatuses),
      ...seen,
      lastCheck: time.nullable(),
      lastSuccess: time.nullable(),
    }),
  ),
});

export const testAnswer = z.object({
  ok: z.boolean(),
  tools: z.array(z.object({ name: z.string(), description: z.string().optional() })).optional(),
  error: z.string().optional(),
  httpStatus,
});

export const testView = (
  outcome:
    | { readonly ok: true; readonly tools?: readonly McpTool[] }
    | { readonly ok: false; readonly error: string; readonly httpStatus?: number },
): z.output<typeof testAnswer> => {
  if (!outcome.ok) return outcome;
  const tools = (outcome.tools ?? []).map(({ name, description }) =>
    description === undefined ? { name } : { name, description },
  );
  return { ok: true, tools };
};

export const serverView = (server: McpServer): z.output<typeof serverAnswer> => {
  const { name, config, isEnabled, health, tools = [], createdAt } = server;
  const { lastCheck, lastSuccess, consecutiveFailures } = health;
  return {
    name,
    enabled: isEnabled,
    status: shownStatus(server),
    // Both have the same JSON shape: the union is narrower.
    config: { ...(maskedConfig(config) as z.output<typeof configBody>), enabled: isEnabled },
    tools: tools.map((tool) => tool.name),
    ...descriptionsOf(tools),
    ...(lastCheck === undefined ? {} : { lastCheck: iso(lastCheck) }),
    ...(lastSuccess === undefined ? {} : { lastSuccess: iso(lastSuccess) }),
    consecutiveFailures,
    ...failureView(health),
    ...warningView(config),
    createdAt: iso(createdAt),
  };
};

const failureView = ({ error, httpStatus: status }: McpHealth): Pick<McpHealth, 'error' | 'httpStatus'> => ({
  ...(error === undefined ? {} : { error }),
  ...(status === undefined ? {} : { httpStatus: status }),
});

const warningView = (config: McpServerConfig): { readonly warning?: string } => {
  const said = sandboxSecretsWarning(config);
  return said === undefined ? {} : { warning: said };
};

export const savedView = ({ name, config }: McpServer, message: string): z.output<typeof savedAnswer> => ({
  ...{ message, name },
  ...warningView(config),
});

const descriptionsOf = (
  tools: readonly McpTool[],
): Pick<z.output<typeof serverAnswer>, 'toolDescriptions'> => {
  const said = tools.flatMap(({ name, description }) => (description ? [[name, description]] : []));
  return said.length === 0 ? {} : { toolDescriptions: Object.fromEntries(said) };
};

/** The health of the enabled servers: a disabled one has none. */
export const healthView = (servers: readonly McpServer[]): z.output<typeof healthAnswer> => {
  const enabled = servers.filter(({ isEnabled }) => isEnabled);
  const having = (status: string): number => enabled.filter(({ health }) => health.status === status).length;
  return {
    summary: {
      total: enabled.length,
      healthy: having('healthy'),
      unhealthy: having('unhealthy'),
      reconnecting: having('reconnecting'),
      disconnected: having('disconnected'),
    },
    mcps: enabled.map(({ name, health }) => ({
      name,
      status: health.status,
      lastCheck: health.lastCheck === undefined ? null : iso(health.lastCheck),
      lastSuccess: health.lastSuccess === undefined ? null : iso(health.lastSuccess),
      consecutiveFailures: health.consecutiveFailures,
      ...failureView(health),
    })),
  };
};
