/**
 * The environment contract: which variables each function reads. Infra must supply exactly these keys or
 * it does not compile; a handler reads them once at cold start or does not start.
 *
 * The only file, with settings.ts, that knows a variable's name. Endpoints of AWS services are the SDK's
 * own variables (AWS_ENDPOINT_URL_*), which is how the same code runs against the embedded cloud.
 */
import * as z from 'zod';
import {
  lifetimeSettings,
  modelSettings,
  readVariables,
  sandboxSettings,
  turnSettings,
  type Variables,
} from './settings.ts';

const name = z.string().min(1).describe('a name');

const table = z.object({ TABLE_NAME: name });
/** The SHA-256 of the admin token, in hexadecimal: the token itself is stored nowhere. */
const access = z.object({
  ADMIN_TOKEN_SHA256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('64 hexadecimal digits'),
});
/** The @connections endpoint of the WebSocket API, with its stage. */
const sockets = z.object({ CONNECTIONS_URL: z.url().describe('a URL') });
const turns = z.object({ TURN_FUNCTION: name });
/** What is needed to start a sandbox and to stop one. */
const tasks = z.object({
  DEPLOYMENT: z
    .string()
    .regex(/^[a-zA-Z0-9_-]{1,64}$/)
    .describe('1 to 64 letters, digits, - and _'),
  SANDBOX_CLUSTER: name,
});
const sandboxes = z.object({
  ...tasks.shape,
  SANDBOX_TASK_PYTHON: name,
  SANDBOX_TASK_NODE: name,
  /** Subnet ids with commas between. */
  SANDBOX_SUBNETS: name,
  SANDBOX_SECURITY_GROUP: name,
  SANDBOX_LINK_FUNCTION: name,
  /** Bearers of sandboxes are derived from it: the value, or the ARN of a secret that holds it. */
  SANDBOX_SECRET: z.string().min(32).describe('at least 32 characters, or the ARN of a secret'),
});

export const environments = {
  authorizer: z.object({ ...table.shape, ...access.shape }),
  socket: z.object({
    ...table.shape,
    ...access.shape,
    ...sockets.shape,
    ...turns.shape,
    ...tasks.shape,
    GREETER_FUNCTION: name,
    MAX_STEPS_PER_TURN: turnSettings.shape.MAX_STEPS_PER_TURN,
    ...modelSettings.shape,
    ...sandboxSettings.shape,
    ...lifetimeSettings.shape,
  }),
  greeter: z.object({ ...table.shape, ...sockets.shape, ...modelSettings.shape }),
  turn: z.object({
    ...table.shape,
    ...sockets.shape,
    ...turns.shape,
    ...sandboxes.shape,
    ...modelSettings.shape,
    ...turnSettings.shape,
    ...lifetimeSettings.shape,
  }),
  'sandbox-link': z.object({
    /** The only addresses it may open a connection to, as an IPv4 CIDR block. */
    SANDBOX_ADDRESS_RANGE: z.cidrv4().describe('an IPv4 CIDR block'),
  }),
  'task-events': z.object({ ...table.shape, ...sockets.shape, ...tasks.shape }),
  janitor: z.object({
    ...table.shape,
    ...sockets.shape,
    ...turns.shape,
    ...tasks.shape,
    ...lifetimeSettings.shape,
  }),
  api: z.object({
    ...table.shape,
    ...access.shape,
    ...sockets.shape,
    ...turns.shape,
    ...sandboxes.shape,
    MAX_STEPS_PER_TURN: turnSettings.shape.MAX_STEPS_PER_TURN,
    ...modelSettings.shape,
    ...sandboxSettings.shape,
    ...lifetimeSettings.shape,
  }),
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
