/**
 * The embedded cloud: every AWS endpoint the program needs, on one machine and one data folder.
 *
 * The start is the list below and the stop is its reverse, also when a start fails half way. Nothing here
 * is global, so tests run many clouds in one process.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { FunctionName } from '#shared/config/environment.ts';
import { operatorSettings, type Variables } from '#shared/config/settings.ts';
import { mcpSweepSecondsMax } from '#shared/domain/mcp/limits.ts';
import { type ApiGateway, start as startApiGateway } from './api-gateway/start.ts';
import { deployedFunctions, functionNamed } from './deployed-functions.ts';
import type { OtherDynamoDb } from './dynamodb/behind.ts';
import { platformTable } from './dynamodb/platform-table.ts';
import { start as startDynamoDb } from './dynamodb/start.ts';
import { type Credentials, type Keys, makeKeys } from './endpoint/keys.ts';
import { start as startEvents, type TimedRule } from './events/start.ts';
import type { LambdaMode } from './lambda/environment.ts';
import { arnOf } from './lambda/function-definition.ts';
import type { FunctionHost } from './lambda/function-host.ts';
import { start as startLambda } from './lambda/start.ts';
import { type RecordCall, startRecorder } from './recorder/start.ts';
import { start as startS3 } from './s3/start.ts';
import { start as startScheduler } from './scheduler/start.ts';
import { start as startSecretsManager } from './secrets/start.ts';
import { webFolder } from './web-build.ts';

/** Whether the limits of sandboxes hold, or are only tried for. */
type SandboxLimits = 'enforced' | 'best effort';

type SandboxHostEndpoint = {
  readonly url: string;
  readonly limits: SandboxLimits;
  readonly stop: () => Promise<void>;
};

type StartSandboxHost = (options: {
  readonly home: string;
  readonly onTaskEvent: (detail: Readonly<Record<string, unknown>>) => void;
  /** What sandboxes say on their standard error. */
  readonly log: (line: string) => void;
  /** Whose signatures it answers. */
  readonly keys: Keys;
}) => Promise<SandboxHostEndpoint>;

export type CloudOptions = {
  /** The data folder; it exists. */
  readonly home: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** The admin token, of which functions only get the hash. */
  readonly token: string;
  /** What bearers of sandboxes are derived from. */
  readonly sandboxSecret: string;
  /** Raw variables; of them only the operator's settings reach the functions. */
  readonly variables: Variables;
  readonly startSandboxHost?: StartSandboxHost;
  /** How often the janitor looks at what is due. */
  readonly sweepMs?: number;
  readonly mode?: LambdaMode;
  /** How long one invocation of a turn may take. */
  readonly turnTimeoutMs?: number;
  readonly functionsFolder?: string;
  readonly webFolder?: string;
  /** What functions print. */
  readonly log?: (text: string) => void;
  readonly progress?: (line: string) => void;
  /** Told of every call that a function makes of AWS; who it was is known in the strict mode. */
  readonly recordCall?: RecordCall;
};

export type Cloud = {
  /** The public origin. */
  readonly url: string;
  readonly limits: SandboxLimits | 'none';
  /** `AWS_ENDPOINT_URL_*`, for a client that looks behind the origin. */
  readonly endpoints: Readonly<Record<string, string>>;
  /** The credentials of such a client; made anew at each start. */
  readonly credentials: Credentials;
  readonly stop: () => Promise<void>;
};

const repository = join(import.meta.dirname, '..');
const tableName = 'sallyport';
const expiryAttribute = 'ttl';
const defaultSweepMs = 60_000;
const workspaceBucket = 'sallyport-workspaces';
type Sweep = {
  readonly everyMs: number;
  /** Absent: the janitor. */
  readonly of?: FunctionName;
  readonly input: { readonly sweep: string; readonly forSeconds?: number };
};

/** Orphans are looked for as often as the rest: here a List costs nothing. */
const sweepsOf = (sweepMs: number): readonly Sweep[] => [
  { everyMs: sweepMs, input: { sweep: 'due' } },
  { everyMs: 5 * sweepMs, input: { sweep: 'slots' } },
  { everyMs: sweepMs, input: { sweep: 'orphans' } },
  { everyMs: sweepMs, of: 'schedules', input: { sweep: 'schedules' } },
  { everyMs: sweepMs, input: { sweep: 'mcp', forSeconds: stayingSeconds(sweepMs) } },
];
/** It is gone before the next comes. */
const stayingSeconds = (sweepMs: number): number =>
  Math.max(0, Math.min(mcpSweepSecondsMax, Math.floor(sweepMs / 1000) - 10));
/** Each local sandbox listens on an address of its own in here. */
const sandboxAddresses = '127.77.0.0/16';

export const startCloud = async (options: CloudOptions): Promise<Cloud> => {
  const { home, variables, log = ignore, progress = ignore, sweepMs = defaultSweepMs } = options;
  let publicUrl = '';
  await using starting = new AsyncDisposableStack();
  const begun = <S extends Stoppable>(service: S): S => {
    starting.defer(service.stop);
    return service;
  };

  const keys = makeKeys();
  progress('Starting the table');
  const dynamoDb = begun(
    await startDynamoDb({
      folder: join(home, 'dynamodb'),
      table: platformTable(tableName),
      expiryAttribute,
      other: otherDynamoDb(variables),
      keys,
    }),
  );
  const s3 = begun(await startS3({ folder: join(home, 's3'), buckets: [workspaceBucket], keys }));
  const secretsManager = begun(await startSecretsManager({ folder: join(home, 'secrets'), keys }));
  const lambda = begun(await startLambda({ mode: options.mode ?? { kind: 'shared' }, log, keys }));
  const events = begun(
    await startEvents({
      functions: lambda,
      rules: rulesOf(sweepMs, () => publicUrl),
      taskStateFunction: functionNamed('task-events'),
    }),
  );
  const scheduler = begun(await startScheduler({ folder: join(home, 'scheduler'), functions: lambda, keys }));
  progress('Starting the sandbox host');
  const sandboxes = await options.startSandboxHost?.({
    home,
    onTaskEvent: events.taskStateChanged,
    log: (line) => log(`${line}\n`),
    keys,
  });
  if (sandboxes !== undefined) begun(sandboxes);
  const gateway = begun(await openGateway(options, lambda, keys));

  const { recordCall } = options;
  const met = async (url: string): Promise<string> =>
    recordCall === undefined ? url : begun(await startRecorder(url, recordCall, keys)).url;
  const endpoints = {
    AWS_ENDPOINT_URL_DYNAMODB: await met(dynamoDb.url),
    AWS_ENDPOINT_URL_LAMBDA: await met(lambda.url),
    AWS_ENDPOINT_URL_S3: await met(s3.url),
    AWS_ENDPOINT_URL_SECRETS_MANAGER: await met(secretsManager.url),
    AWS_ENDPOINT_URL_SCHEDULER: await met(scheduler.url),
    ...(sandboxes === undefined ? {} : { AWS_ENDPOINT_URL_ECS: await met(sandboxes.url) }),
  };
  progress('Starting the functions');
  lambda.deploy(
    deployedFunctions({
      folder: options.functionsFolder ?? join(repository, 'functions'),
      turnTimeoutMs: options.turnTimeoutMs,
      variables: functionVariables(options, await met(gateway.url), sandboxes?.limits ?? 'best effort'),
      endpoints: {
        ...endpoints,
        POWERTOOLS_SERVICE_NAME: 'sallyport',
        POWERTOOLS_METRICS_NAMESPACE: 'Sallyport',
      },
    }),
  );
  publicUrl = await gateway.open(options.port);
  events.fire();
  scheduler.fire();
  const running = starting.move();
  return {
    url: publicUrl,
    limits: sandboxes?.limits ?? 'none',
    endpoints,
    credentials: keys.issue('local'),
    stop: () => running.disposeAsync(),
  };
};

const openGateway = (options: CloudOptions, functions: FunctionHost, keys: Keys): Promise<ApiGateway> =>
  startApiGateway({
    functions,
    keys,
    restRoutes: [
      { resource: '/api/{proxy+}', functionName: functionNamed('api') },
      { resource: '/mcp', functionName: functionNamed('mcp') },
    ],
    webSocket: { authorizer: functionNamed('authorizer'), functionName: functionNamed('socket') },
    webRoot: options.webFolder ?? webFolder(repository),
  });

/** The rules and schedules that invoke functions; the sweep of webhooks carries the public address. */
const rulesOf = (sweepMs: number, publicUrl: () => string): readonly TimedRule[] => [
  ...sweepsOf(sweepMs).map(({ everyMs, input, of = 'janitor' }) => ({
    name: `sweep-${input.sweep}`,
    everyMs,
    functionName: functionNamed(of),
    input,
  })),
  {
    name: 'sweep-webhooks',
    everyMs: sweepMs,
    functionName: functionNamed('webhooks'),
    input: () => ({ sweep: 'webhooks', url: publicUrl() }),
  },
];

type Stoppable = { readonly stop: () => Promise<void> };

const ignore = (): void => undefined;

/** Named by the operator, with the variables of the SDK for what its clients sign with. */
const otherDynamoDb = (variables: Variables): OtherDynamoDb | undefined => {
  const url = variables['AWS_ENDPOINT_URL_DYNAMODB'] || undefined;
  const accessKeyId = variables['AWS_ACCESS_KEY_ID'] || undefined;
  const secretAccessKey = variables['AWS_SECRET_ACCESS_KEY'] || undefined;
  if (url === undefined) return undefined;
  return {
    url,
    region: variables['AWS_REGION'] || undefined,
    ...(accessKeyId === undefined || secretAccessKey === undefined
      ? {}
      : {
          credentials: { accessKeyId, secretAccessKey },
          sessionToken: variables['AWS_SESSION_TOKEN'] || undefined,
        }),
  };
};

const functionVariables = (
  { token, sandboxSecret, variables }: CloudOptions,
  connectionsUrl: string,
  limits: SandboxLimits,
): Variables => ({
  ...pick(variables, Object.keys(operatorSettings.shape)),
  TABLE_NAME: tableName,
  ADMIN_TOKEN_SHA256: createHash('sha256').update(token).digest('hex'),
  CONNECTIONS_URL: connectionsUrl,
  TURN_FUNCTION: functionNamed('turn'),
  GREETER_FUNCTION: functionNamed('greeter'),
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
  SANDBOX_TASK_PYTHON: 'sallyport-python',
  SANDBOX_TASK_NODE: 'sallyport-node',
  SANDBOX_SUBNETS: 'subnet-local',
  SANDBOX_SECURITY_GROUP: 'sg-local',
  SANDBOX_SECRET: sandboxSecret,
  SANDBOX_ADDRESS_RANGE: sandboxAddresses,
  SANDBOX_LIMITS: limits,
  WORKSPACE_BUCKET: workspaceBucket,
  PROJECT_SECRETS_PREFIX: 'sallyport/local/',
  // Nobody at one machine is told by an alarm.
  SYNTHETIC_CHECK: variables['SYNTHETIC_CHECK'] || 'false',
  // One folder for all sandboxes of this machine: there is nothing to carry.
  SHARED_VOLUME: variables['MSB_SHARED_VOLUME_PATH'] ? 'mounted' : undefined,
});

const pick = (variables: Variables, names: readonly string[]): Variables =>
  Object.fromEntries(names.map((name) => [name, variables[name]]));
