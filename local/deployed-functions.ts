/**
 * The functions of the program as the embedded cloud deploys them: the counterpart of the compute stack on AWS.
 *
 * Each gets the variables that its own contract names. A missing or invalid value refuses the start with one line,
 * before any endpoint answers.
 */
import { createHash } from 'node:crypto';
import { environments, type FunctionName, readEnvironment } from '#shared/config/environment.ts';
import { functionLimits } from '#shared/config/function-limits.ts';
import type { Variables } from '#shared/config/read-variables.ts';
import { operatorSettings } from '#shared/config/settings.ts';
import { familyFor } from './ecs/task.ts';
import { arnOf, type EventLimits, type FunctionDefinition } from './lambda/function.ts';

type DeployedFunctionsOptions = {
  /** The module of a function that exports its handler. */
  readonly entryOf: (name: FunctionName) => string;
  /** Values for all functions; each gets those that its contract names. */
  readonly variables: Variables;
  /** `AWS_ENDPOINT_URL_*` and other variables of the SDKs: every function gets them. */
  readonly endpoints: Readonly<Record<string, string>>;
  /** Replaces the timeout of a turn, which hands over before it. */
  readonly turnTimeoutMs?: number | undefined;
  /** As above, of a relay. */
  readonly relayTimeoutMs?: number | undefined;
};

export const functionNamed = (name: FunctionName): string => `sallyport-${name}`;

/** Of asynchronous invocations, as on AWS. */
const eventsOf = (name: FunctionName): { readonly events?: EventLimits } => {
  const { retriesMax, ageSecondsMax } = functionLimits[name];
  if (retriesMax === undefined && ageSecondsMax === undefined) return {};
  return {
    events: {
      ...(retriesMax === undefined ? {} : { retriesMax }),
      ...(ageSecondsMax === undefined ? {} : { ageMsMax: ageSecondsMax * 1000 }),
    },
  };
};

const memoryMb = 512;

/** `best effort` where the kernel does not enforce the limits of sandboxes. */
export type SandboxLimits = 'enforced' | 'best effort';

export const tableName = 'sallyport';
export const workspaceBucket = 'sallyport-workspaces';
/** Each local sandbox listens on its own address in this range. */
const sandboxAddresses = '127.77.0.0/16';

export const deployedFunctions = (options: DeployedFunctionsOptions): readonly FunctionDefinition[] => {
  const { turnTimeoutMs: turn, relayTimeoutMs: relay } = options;
  const shorter: Partial<Record<FunctionName, number | undefined>> = { turn, relay };
  return (Object.keys(environments) as FunctionName[]).map((name) => ({
    name: functionNamed(name),
    entry: options.entryOf(name),
    environment: { ...environmentOf(name, options.variables), ...options.endpoints },
    timeoutMs: shorter[name] ?? functionLimits[name].timeoutSeconds * 1000,
    memoryMb,
    ...eventsOf(name),
  }));
};

const environmentOf = (name: FunctionName, variables: Variables): Record<string, string> => {
  readEnvironment(name, variables);
  const keys = Object.keys(environments[name].shape);
  return Object.fromEntries(keys.flatMap((key) => (variables[key] ? [[key, variables[key]]] : [])));
};

type DeploymentValues = {
  /** The admin token; functions get only its hash. */
  readonly token: string;
  readonly sandboxSecret: string;
  /** Raw variables; only the operator's settings among them reach the functions. */
  readonly variables: Variables;
  readonly connectionsUrl: string;
  readonly limits: SandboxLimits;
  /** At which sandboxes are reached. */
  readonly sandboxPort?: number | undefined;
  /** The operator's templates. */
  readonly templates?: readonly { readonly name: string }[];
  /** The reason why no sandbox can start from one of these. */
  readonly templatesProblem?: string | undefined;
  /** The key that signs the seals of the audit log. */
  readonly sealKeyFile?: string | undefined;
};

/** The variables that any function may ask for by name. */
export const functionVariables = ({
  token,
  sandboxSecret,
  variables,
  connectionsUrl,
  limits,
  sandboxPort,
  templates = [],
  templatesProblem,
  sealKeyFile,
}: DeploymentValues): Variables => ({
  // Waiting costs nothing here: the end of a call is seen at once, however long it runs.
  TOOL_WAIT_SECONDS: '3600',
  ...pick(variables, Object.keys(operatorSettings.shape)),
  TABLE_NAME: tableName,
  ADMIN_TOKEN_SHA256: createHash('sha256').update(token).digest('hex'),
  CONNECTIONS_URL: connectionsUrl,
  TURN_FUNCTION: functionNamed('turn'),
  ON_CONNECTED_FUNCTION: functionNamed('on-connected'),
  TERMINAL_FUNCTION: functionNamed('terminal'),
  RELAY_FUNCTION: functionNamed('relay'),
  MCP_FUNCTION: functionNamed('mcp'),
  JANITOR_FUNCTION: functionNamed('janitor'),
  SCHEDULES_FUNCTION: functionNamed('schedules'),
  WEBHOOKS_FUNCTION: functionNamed('webhooks'),
  SCHEDULE_GROUP: 'sallyport',
  SCHEDULE_TARGET: arnOf(functionNamed('schedules')),
  SCHEDULE_ROLE: 'arn:aws:iam::000000000000:role/sallyport-schedules',
  SCHEDULE_DEAD_LETTERS: 'arn:aws:sqs:us-east-1:000000000000:sallyport-lost',
  SANDBOX_LINK_FUNCTION: functionNamed('sandbox-link'),
  DEPLOYMENT: 'local',
  SANDBOX_CLUSTER: 'sallyport',
  SANDBOX_TASK_PYTHON: familyFor('python'),
  SANDBOX_TASK_NODE: familyFor('node'),
  SANDBOX_TEMPLATE_TASKS: templates.map(({ name }) => `${name}=${familyFor(name)}`).join() || undefined,
  TEMPLATES_PROBLEM: templatesProblem,
  SANDBOX_SUBNETS: 'subnet-local',
  SANDBOX_PORT: sandboxPort?.toString(),
  SANDBOX_SECURITY_GROUP: 'sg-local',
  SANDBOX_SECRET: sandboxSecret,
  SANDBOX_ADDRESS_RANGE: sandboxAddresses,
  SANDBOX_LIMITS: limits,
  WORKSPACE_BUCKET: workspaceBucket,
  AUDIT_SEAL_KEY: sealKeyFile,
  PROJECT_SECRETS_PREFIX: 'sallyport/local/',
  // One machine has no alarm that would report a failed check.
  SYNTHETIC_CHECK: variables['SYNTHETIC_CHECK'] || 'false',
  // All sandboxes of this machine mount one folder, so nothing is copied.
  SHARED_VOLUME: variables['MSB_SHARED_VOLUME_PATH'] ? 'mounted' : undefined,
});

/** Those that have a value: a missing one replaces no default. */
const pick = (variables: Variables, names: readonly string[]): Variables =>
  Object.fromEntries(names.flatMap((name) => (variables[name] ? [[name, variables[name]]] : [])));
