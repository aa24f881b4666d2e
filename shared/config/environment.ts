/**
 * The environment contract: which variables each function reads. Infra must supply exactly these keys or
 * it does not compile; a handler reads them once at cold start or does not start.
 *
 * The only file, with settings.ts, that knows a variable's name. Endpoints of AWS services are the SDK's
 * own variables (AWS_ENDPOINT_URL_*), which is how the same code runs against the embedded cloud.
 */
import * as z from 'zod';
import { oidcSettings } from './oidc-settings.ts';
import {
  checkSettings,
  historySettings,
  lifetimeSettings,
  mcpSettings,
  modelSettings,
  poolSettings,
  quotaSettings,
  rateSettings,
  readVariables,
  sandboxSettings,
  senderSettings,
  treeSettings,
  turnSettings,
  type Variables,
  volumeSettings,
  webhookSettings,
} from './settings.ts';

const name = z.string().min(1).describe('a name');

/** Whose metrics they are, and whose tasks: `startedBy` of every task. Every function reads it. */
const deployment = z.object({
  DEPLOYMENT: z
    .string()
    .regex(/^[a-zA-Z0-9_-]{1,64}$/)
    .describe('1 to 64 letters, digits, - and _'),
});
const table = z.object({ TABLE_NAME: name });
/** The SHA-256 of the admin token, in hexadecimal: the token itself is stored nowhere. */
const access = z.object({
  ADMIN_TOKEN_SHA256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('64 hexadecimal digits'),
});
/** Whoever meets credentials asks the issuer; a socket that is open asks only when they end. */
const credentials = z.object({ ...access.shape, ...oidcSettings.shape });
/** The @connections endpoint of the WebSocket API, with its stage. */
const sockets = z.object({ CONNECTIONS_URL: z.url().describe('a URL') });
const turns = z.object({ TURN_FUNCTION: name });
/** Whoever marks a sandbox has the janitor save and stop it. */
const janitor = z.object({ JANITOR_FUNCTION: name });
/** Whoever changes a schedule has it tended. */
const schedules = z.object({ SCHEDULES_FUNCTION: name });
/** A function that writes a notice has it sent. */
const webhooks = z.object({ WEBHOOKS_FUNCTION: name });
const sandboxes = z.object({
  SANDBOX_CLUSTER: name,
  SANDBOX_TASK_PYTHON: name,
  SANDBOX_TASK_NODE: name,
  /** Subnet ids with commas between. */
  SANDBOX_SUBNETS: name,
  SANDBOX_SECURITY_GROUP: name,
  SANDBOX_LINK_FUNCTION: name,
  /** Bearers of sandboxes are derived from it: the value, or the ARN of a secret that holds it. */
  SANDBOX_SECRET: z.string().min(32).describe('at least 32 characters, or the ARN of a secret'),
  /** The bucket of the checkpoints. */
  WORKSPACE_BUCKET: name,
  /** How sandboxes of one owner share a volume: kept in the bucket, or one mounted folder. Absent: they do not. */
  SHARED_VOLUME: z.enum(['bucket', 'mounted']).optional().describe('bucket or mounted'),
  ...poolSettings.shape,
});
/** What the names of projects' secrets in Secrets Manager start with. */
const projectSecrets = z.object({ PROJECT_SECRETS_PREFIX: name });
/** The limits of a turn that a decision may meet. */
const decisions = z.object({
  MAX_STEPS_PER_TURN: turnSettings.shape.MAX_STEPS_PER_TURN,
  MAX_COST_USD: turnSettings.shape.MAX_COST_USD,
});
/** What a session is made with, and how long it lives. */
const sessions = z.object({
  ...modelSettings.shape,
  ...sandboxSettings.shape,
  ...lifetimeSettings.shape,
  ...quotaSettings.shape,
});

export const environments = {
  authorizer: z.object({ ...deployment.shape, ...table.shape, ...credentials.shape }),
  socket: z.object({
    ...deployment.shape,
    ...table.shape,
    ...access.shape,
    ...rateSettings.shape,
    ...sockets.shape,
    ...turns.shape,
    ...janitor.shape,
    GREETER_FUNCTION: name,
    ...webhooks.shape,
    ...decisions.shape,
    ...sessions.shape,
  }),
  greeter: z.object({
    ...deployment.shape,
    ...table.shape,
    ...sockets.shape,
    ...modelSettings.shape,
    /** True when agents are offered the tool that starts others. */
    MAX_RECURSION_DEPTH: treeSettings.shape.MAX_RECURSION_DEPTH,
  }),
  turn: z.object({
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
    ...mcpSettings.shape,
    ...projectSecrets.shape,
  }),
  'sandbox-link': z.object({
    ...deployment.shape,
    /** The only addresses it may open a connection to, as an IPv4 CIDR block. */
    SANDBOX_ADDRESS_RANGE: z.cidrv4().describe('an IPv4 CIDR block'),
    WORKSPACE_BUCKET: name,
  }),
  'task-events': z.object({
    ...deployment.shape,
    ...table.shape,
    ...sockets.shape,
    ...janitor.shape,
    ...webhooks.shape,
  }),
  janitor: z.object({
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
    ...projectSecrets.shape,
  }),
  schedules: z.object({
    ...deployment.shape,
    ...table.shape,
    ...access.shape,
    ...sockets.shape,
    ...turns.shape,
    ...janitor.shape,
    ...webhooks.shape,
    ...sessions.shape,
    /** The group in which EventBridge Scheduler keeps the next runs. */
    SCHEDULE_GROUP: name,
    /** What it invokes: this function. */
    SCHEDULE_TARGET: name,
    /** The role by which it does. */
    SCHEDULE_ROLE: name,
    /** The queue of what it could not deliver. */
    SCHEDULE_DEAD_LETTERS: name,
  }),
  webhooks: z.object({
    ...deployment.shape,
    ...table.shape,
    ...webhookSettings.shape,
    ...senderSettings.shape,
  }),
  api: z.object({
    ...deployment.shape,
    ...table.shape,
    ...credentials.shape,
    ...rateSettings.shape,
    ...sockets.shape,
    ...turns.shape,
    ...janitor.shape,
    ...schedules.shape,
    ...webhooks.shape,
    ...webhookSettings.shape,
    ...sandboxes.shape,
    /** True when the limits of sandboxes hold here. */
    SANDBOX_LIMITS: z
      .enum(['enforced', 'best effort'])
      .default('enforced')
      .describe('enforced or best effort'),
    ...decisions.shape,
    ...sessions.shape,
    ...mcpSettings.shape,
    /** To say what a model costs. */
    MODEL_PRICES: turnSettings.shape.MODEL_PRICES,
    ...projectSecrets.shape,
    /** The key they are encrypted under when they are made; absent: the one AWS manages. */
    PROJECT_SECRETS_KEY: z.string().startsWith('arn:').optional().describe('the ARN of a KMS key'),
  }),
  mcp: z.object({
    ...deployment.shape,
    ...table.shape,
    ...credentials.shape,
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
  }),
  synthetic: z.object({ ...deployment.shape, ...table.shape, ...checkSettings.shape }),
} as const;

export type FunctionName = keyof typeof environments;

/** What a handler gets. */
export type Environment<F extends FunctionName> = z.output<(typeof environments)[F]>;

/** What infra puts on the function: optional keys and defaults may be left out, everything is a string. */
export type EnvironmentFor<F extends FunctionName> = {
  readonly [K in keyof z.input<(typeof environments)[F]>]: string;
};

/** For a handler's cold start; throws one line that names every variable that is wrong. */
export const readEnvironment = <F extends FunctionName>(
  functionName: F,
  variables: Variables,
): Environment<F> => {
  const result = readVariables(environments[functionName] as z.ZodObject, variables);
  if (result.ok) return result.value as Environment<F>;
  throw new Error(`${functionName} cannot start: ${result.problems.join('; ')}`);
};

type LifetimeVariables = z.output<typeof lifetimeSettings>;

/** The time that sessions, their sandboxes and what is left of them live, in milliseconds. */
export const lifetimesOf = (variables: LifetimeVariables) => ({
  idleMs: variables.MAX_IDLE_TIME_MS,
  executionIdleMs: variables.MSB_SESSION_TIMEOUT_SECONDS * 1000,
  historyMs: variables.HISTORY_TTL_SECONDS * 1000,
});

type DefaultVariables = z.output<typeof sandboxSettings> &
  z.output<typeof lifetimeSettings> & { readonly MODEL?: string | undefined };

/** What a session is made with when its maker leaves it open. */
export const sessionDefaultsOf = (variables: DefaultVariables) => ({
  flavor: variables.MSB_DEFAULT_FLAVOR,
  template: variables.MSB_DEFAULT_TEMPLATE,
  lifetimes: lifetimesOf(variables),
  ...(variables.MODEL === undefined ? {} : { model: variables.MODEL }),
});

/** What bounds a turn, whoever moves it. */
export const turnLimitsOf = (variables: z.output<typeof decisions>) => ({
  stepsMax: variables.MAX_STEPS_PER_TURN,
  usdMax: variables.MAX_COST_USD,
});

/** How far agents may start agents, where a session says nothing. */
export const treeLimitsOf = (
  variables: z.output<typeof treeSettings> & Pick<z.output<typeof decisions>, 'MAX_COST_USD'>,
): {
  readonly recursionDepthMax: number;
  readonly agentsPerSessionMax: number;
  readonly costUsdMax: number;
} => ({
  recursionDepthMax: variables.MAX_RECURSION_DEPTH,
  agentsPerSessionMax: variables.MAX_AGENTS_PER_SESSION,
  costUsdMax: variables.MAX_COST_USD,
});

export const rateOf = (variables: z.output<typeof rateSettings>) => ({
  perSecond: variables.RATE_LIMIT_PER_SECOND,
  burst: variables.RATE_LIMIT_BURST,
});
