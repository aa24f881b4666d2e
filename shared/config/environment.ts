/**
 * The environment contract: the variables that each function reads. Infra must supply exactly these keys or it
 * does not compile; a handler reads them once at cold start or does not start.
 *
 * The only file, with settings.ts, that knows a variable's name. Endpoints of AWS services are the SDK's own
 * variables (AWS_ENDPOINT_URL_*), by which the same code runs against the embedded cloud.
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

/** The deployment's name: the dimension of its metrics, and `startedBy` of its tasks. Every function reads it. */
const deployment = z.object({
  DEPLOYMENT: z
    .string()
    .regex(/^[a-zA-Z0-9_-]{1,64}$/)
    .describe('1 to 64 letters, digits, - and _'),
});
const table = z.object({ TABLE_NAME: name });
/** The SHA-256 of the admin token, in hexadecimal: the token itself is never stored. */
const access = z.object({
  ADMIN_TOKEN_SHA256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('64 hexadecimal digits'),
});
/** Every function that receives credentials asks the issuer; an open socket asks only when they expire. */
const credentials = z.object({ ...access.shape, ...oidcSettings.shape });
/** The @connections endpoint of the WebSocket API, with its stage. */
const sockets = z.object({ CONNECTIONS_URL: z.url().describe('a URL') });
const turns = z.object({ TURN_FUNCTION: name });
/** Every function that marks a sandbox invokes the janitor to save and stop it. */
const janitor = z.object({ JANITOR_FUNCTION: name });
/** Every function that changes a schedule invokes its dispatcher. */
const schedules = z.object({ SCHEDULES_FUNCTION: name });
/** Every function that writes a notice invokes the sender. */
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
  /**
   * The kind of volume that sandboxes of one owner share: stored in the bucket, or one mounted folder. Absent:
   * none.
   */
  SHARED_VOLUME: z.enum(['bucket', 'mounted']).optional().describe('bucket or mounted'),
  ...poolSettings.shape,
});
/** The prefix of the names of projects' secrets in Secrets Manager. */
const projectSecrets = z.object({ PROJECT_SECRETS_PREFIX: name });
/** The limits of a turn that a decision may reach. */
const decisions = z.object({
  MAX_STEPS_PER_TURN: turnSettings.shape.MAX_STEPS_PER_TURN,
  MAX_COST_USD: turnSettings.shape.MAX_COST_USD,
});
/** The defaults of a new session, and its lifetimes. */
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
    ON_CONNECTED_FUNCTION: name,
    ...webhooks.shape,
    ...decisions.shape,
    ...sessions.shape,
  }),
  'on-connected': z.object({
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
    /** The group of the next runs in EventBridge Scheduler. */
    SCHEDULE_GROUP: name,
    /** The ARN it invokes: this function's. */
    SCHEDULE_TARGET: name,
    /** The role it assumes for that. */
    SCHEDULE_ROLE: name,
    /** The dead-letter queue of the invocations it could not deliver. */
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
    /** True when the limits of sandboxes are enforced here. */
    SANDBOX_LIMITS: z
      .enum(['enforced', 'best effort'])
      .default('enforced')
      .describe('enforced or best effort'),
    ...decisions.shape,
    ...sessions.shape,
    ...mcpSettings.shape,
    /** The prices of models. */
    MODEL_PRICES: turnSettings.shape.MODEL_PRICES,
    ...projectSecrets.shape,
    /** The key under which new bundles are encrypted; absent: the one AWS manages. */
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

/** The environment as a handler reads it. */
export type Environment<F extends FunctionName> = z.output<(typeof environments)[F]>;

/**
 * The environment as infra sets it on the function: optional keys and defaults may be left out, everything is a
 * string.
 */
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

/** The lifetimes of sessions, their sandboxes and what they leave, in milliseconds. */
export const lifetimesOf = (variables: LifetimeVariables) => ({
  idleMs: variables.MAX_IDLE_TIME_MS,
  executionIdleMs: variables.MSB_SESSION_TIMEOUT_SECONDS * 1000,
  historyMs: variables.HISTORY_TTL_SECONDS * 1000,
});

type DefaultVariables = z.output<typeof sandboxSettings> &
  z.output<typeof lifetimeSettings> & { readonly MODEL?: string | undefined };

/** The settings of a session whose creator leaves them open. */
export const sessionDefaultsOf = (variables: DefaultVariables) => ({
  flavor: variables.MSB_DEFAULT_FLAVOR,
  template: variables.MSB_DEFAULT_TEMPLATE,
  lifetimes: lifetimesOf(variables),
  ...(variables.MODEL === undefined ? {} : { model: variables.MODEL }),
});

/** The limits of a turn, for every function that moves it. */
export const turnLimitsOf = (variables: z.output<typeof decisions>) => ({
  stepsMax: variables.MAX_STEPS_PER_TURN,
  usdMax: variables.MAX_COST_USD,
});

/** The limits of trees of agents, where a session has none of its own. */
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
