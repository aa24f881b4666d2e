/**
 * The environment contract: the variables that each function reads. Infra must supply exactly these keys or it
 * does not compile; a handler reads them once at cold start or does not start.
 *
 * Only the files of this folder know a variable's name. Endpoints of AWS services are the SDK's own
 * variables (AWS_ENDPOINT_URL_*), by which the same code runs against the embedded cloud.
 */
import * as z from 'zod';
import {
  access,
  ceiling,
  credentials,
  decisions,
  deployment,
  janitor,
  link,
  name,
  projectSecrets,
  publicAddress,
  relays,
  sandboxes,
  sandboxPort,
  schedules,
  seals,
  sessions,
  sockets,
  table,
  templates,
  terminals,
  turns,
  webhooks,
} from './environment-parts.ts';
import { type Group, group, type ValuesOf } from './group.ts';
import { clientSettings, loginSettings } from './oidc-settings.ts';
import { readVariables, type Variables } from './read-variables.ts';
import {
  checkSettings,
  egressSettings,
  historySettings,
  lifetimeSettings,
  mcpSettings,
  modelSettings,
  quotaSettings,
  rateSettings,
  sandboxSettings,
  senderSettings,
  snapshotSettings,
  treeSettings,
  turnSettings,
  volumeSettings,
  webhookSettings,
} from './settings.ts';

export const environments = {
  authorizer: group(() => ({
    ...deployment.shape,
    ...table.shape,
    ...credentials.shape,
    ...publicAddress.shape,
  })),
  socket: group(() => ({
    ...deployment.shape,
    ...table.shape,
    ...access.shape,
    ...rateSettings.shape,
    ...sockets.shape,
    ...turns.shape,
    ...janitor.shape,
    ON_CONNECTED_FUNCTION: name,
    ...terminals.shape,
    ...link.shape,
    ...webhooks.shape,
    ...decisions.shape,
    ...sessions.shape,
  })),
  'on-connected': group(() => ({
    ...deployment.shape,
    ...table.shape,
    ...sockets.shape,
    ...modelSettings.shape,
    /** True when agents are offered the tool that starts others. */
    MAX_RECURSION_DEPTH: treeSettings.shape.MAX_RECURSION_DEPTH,
  })),
  terminal: group(() => ({
    ...deployment.shape,
    ...table.shape,
    ...access.shape,
    ...sockets.shape,
    ...link.shape,
    ...terminals.shape,
    ...relays.shape,
  })),
  turn: group(() => ({
    ...deployment.shape,
    ...table.shape,
    ...sockets.shape,
    ...turns.shape,
    ...janitor.shape,
    ...webhooks.shape,
    ...sandboxes.shape,
    ...modelSettings.shape,
    ...turnSettings.shape,
    ...treeSettings.shape,
    ...historySettings.shape,
    ...lifetimeSettings.shape,
    ...quotaSettings.shape,
    ...templates.shape,
    ...mcpSettings.shape,
    ...projectSecrets.shape,
  })),
  relay: group(() => ({
    ...deployment.shape,
    ...table.shape,
    ...sockets.shape,
    ...link.shape,
    ...relays.shape,
    /** It has the tools that programs of sandboxes call. */
    MCP_FUNCTION: name,
    ...egressSettings.shape,
    ...rateSettings.shape,
    /** For the model calls of programs of sandboxes. */
    ...modelSettings.shape,
    MAX_OUTPUT_TOKENS: turnSettings.shape.MAX_OUTPUT_TOKENS,
    MAX_COST_USD: turnSettings.shape.MAX_COST_USD,
    MODEL_PRICES: turnSettings.shape.MODEL_PRICES,
    ...projectSecrets.shape,
  })),
  'sandbox-link': group(() => ({
    ...deployment.shape,
    /** The only addresses it may open a connection to, as an IPv4 CIDR block. */
    SANDBOX_ADDRESS_RANGE: z.cidrv4().describe('an IPv4 CIDR block'),
    WORKSPACE_BUCKET: name,
  })),
  'task-events': group(() => ({
    ...deployment.shape,
    ...table.shape,
    ...sandboxPort.shape,
    ...sockets.shape,
    ...janitor.shape,
    ...webhooks.shape,
  })),
  janitor: group(() => ({
    ...deployment.shape,
    ...table.shape,
    ...sockets.shape,
    ...turns.shape,
    ...webhooks.shape,
    ...sandboxes.shape,
    ...lifetimeSettings.shape,
    ...sandboxSettings.shape,
    ...quotaSettings.shape,
    ...mcpSettings.shape,
    ...seals.shape,
    ...projectSecrets.shape,
  })),
  schedules: group(() => ({
    ...deployment.shape,
    ...table.shape,
    ...access.shape,
    ...sockets.shape,
    ...turns.shape,
    ...janitor.shape,
    ...link.shape,
    ...webhooks.shape,
    ...sessions.shape,
    /** The group of the next runs in EventBridge Scheduler. */
    SCHEDULE_GROUP: name,
    /** The ARN it invokes: this function's. */
    SCHEDULE_TARGET: name,
    /** The role it assumes for that. */
    SCHEDULE_ROLE: name,
    /** The dead-letter queue of the invocations it could not deliver. */
    SCHEDULE_DEAD_LETTERS: name,
  })),
  webhooks: group(() => ({
    ...deployment.shape,
    ...table.shape,
    ...webhookSettings.shape,
    ...senderSettings.shape,
  })),
  api: group(() => ({
    ...deployment.shape,
    ...table.shape,
    ...credentials.shape,
    ...loginSettings.shape,
    ...clientSettings.shape,
    ...publicAddress.shape,
    ...rateSettings.shape,
    ...sockets.shape,
    ...turns.shape,
    ...janitor.shape,
    ...schedules.shape,
    ...webhooks.shape,
    ...webhookSettings.shape,
    ...sandboxes.shape,
    /** True when the limits of sandboxes are enforced here. */
    SANDBOX_LIMITS: z
      .enum(['enforced', 'best effort'])
      .default('enforced')
      .describe('enforced or best effort'),
    ...decisions.shape,
    ...treeSettings.shape,
    ...sessions.shape,
    ...mcpSettings.shape,
    ...snapshotSettings.shape,
    ...ceiling.shape,
    /** The prices of models. */
    MODEL_PRICES: turnSettings.shape.MODEL_PRICES,
    ...seals.shape,
    ...projectSecrets.shape,
    /** The key under which new bundles are encrypted; absent: the one AWS manages. */
    PROJECT_SECRETS_KEY: z.string().startsWith('arn:').optional().describe('the ARN of a KMS key'),
  })),
  mcp: group(() => ({
    ...deployment.shape,
    ...table.shape,
    ...credentials.shape,
    ...clientSettings.shape,
    ...publicAddress.shape,
    ...rateSettings.shape,
    ...sockets.shape,
    ...turns.shape,
    ...janitor.shape,
    ...schedules.shape,
    ...webhooks.shape,
    ...sandboxes.shape,
    ...decisions.shape,
    ...treeSettings.shape,
    ...sessions.shape,
    ...volumeSettings.shape,
    ...ceiling.shape,
    MAX_TOOL_SECONDS: turnSettings.shape.MAX_TOOL_SECONDS,
    /** The prices of models: those that a program may give to a child. */
    MODEL_PRICES: turnSettings.shape.MODEL_PRICES,
  })),
  synthetic: group(() => ({ ...deployment.shape, ...table.shape, ...checkSettings.shape })),
} as const;

export type FunctionName = keyof typeof environments;

/** The environment as a handler reads it. */
export type Environment<F extends FunctionName> = ValuesOf<(typeof environments)[F]>;

/**
 * The environment as infra sets it on the function: optional keys and defaults may be left out, everything is a
 * string.
 */
export type EnvironmentFor<F extends FunctionName> = {
  readonly [K in keyof z.input<z.ZodObject<(typeof environments)[F]['shape']>>]: string;
};

/** For a handler's cold start; throws one line that names every variable that is wrong. */
export const readEnvironment = <F extends FunctionName>(
  functionName: F,
  variables: Variables,
): Environment<F> => {
  const result = readVariables(environments[functionName] as Group, variables);
  if (result.ok) return result.value as Environment<F>;
  throw new Error(`${functionName} cannot start: ${result.problems.join('; ')}`);
};
