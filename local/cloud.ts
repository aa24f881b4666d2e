/**
 * The embedded cloud: every AWS endpoint that the program needs, on one machine and one data folder.
 *
 * The start is the list below and the stop is its reverse, also when a start fails half way. Nothing here is global, so
 * tests run many clouds in one process.
 */
import { join } from 'node:path';
import type { FunctionName } from '#shared/config/environment.ts';
import { readVariables, type Variables } from '#shared/config/read-variables.ts';
import { sandboxSettings } from '#shared/config/settings.ts';
import { mcpSweepSecondsMax } from '#shared/domain/mcp/limits.ts';
import type { NamedTemplate } from '#shared/domain/template.ts';
import { strictRestLimits } from './api-gateway/rest-integration.ts';
import { type ApiGateway, start as startApiGateway } from './api-gateway/start.ts';
import {
  deployedFunctions,
  functionNamed,
  functionVariables,
  type SandboxLimits,
  tableName,
  workspaceBucket,
} from './deployed-functions.ts';
import { type OtherDynamoDb, start as startDynamoDb } from './dynamodb/start.ts';
import { platformTable } from './dynamodb/table.ts';
import { type Credentials, type Keys, makeKeys } from './endpoint/account.ts';
import { start as startEvents, type TimedRule } from './events/start.ts';
import { bundledFunctions } from './function-bundles.ts';
import { loadSealKey } from './home.ts';
import { saveWorkspaces, takeOver } from './janitor-calls.ts';
import { type LambdaMode, strictLambda } from './lambda/environment.ts';
import type { FunctionHost } from './lambda/function-host.ts';
import { start as startLambda } from './lambda/start.ts';
import { type RecordCall, startRecorder } from './recorder/start.ts';
import { start as startS3 } from './s3/start.ts';
import { start as startScheduler } from './scheduler/start.ts';
import { start as startSecretsManager } from './secrets/start.ts';
import { webFolder } from './web-build.ts';

type SandboxHostEndpoint = {
  readonly url: string;
  readonly limits: SandboxLimits;
  readonly templatesProblem?: string | undefined;
  /** At which sandboxes are reached. */
  readonly sandboxPort?: number;
  readonly stop: () => Promise<void>;
};

type StartSandboxHost = (options: {
  readonly home: string;
  readonly onTaskEvent: (detail: Readonly<Record<string, unknown>>) => void;
  /** Gets the standard error of sandboxes. */
  readonly log: (line: string) => void;
  readonly keys: Keys;
  readonly templates: readonly NamedTemplate[];
  /** Gets what the operator should know. */
  readonly progress: (line: string) => void;
}) => Promise<SandboxHostEndpoint>;

export type CloudOptions = {
  /** The data folder; it exists. */
  readonly home: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** The admin token; functions get only its hash. */
  readonly token: string;
  /** The secret from which bearers of sandboxes are derived. */
  readonly sandboxSecret: string;
  /** Raw variables; only the operator's settings among them reach the functions. */
  readonly variables: Variables;
  readonly startSandboxHost?: StartSandboxHost;
  /** The interval of the janitor's sweeps. */
  readonly sweepMs?: number;
  readonly mode?: LambdaMode;
  /** True: what one machine need not do, as AWS does it (docs/spec/aws.md); it costs memory and processor time. */
  readonly strict?: boolean;
  /** The timeout of one invocation of a turn. */
  readonly turnTimeoutMs?: number;
  readonly relayTimeoutMs?: number;
  /** A folder of functions as sources; absent: those of the program, bundled. */
  readonly functionsFolder?: string;
  readonly webFolder?: string;
  /** The interval at which the access of an open preview connection is checked. */
  readonly previewCheckMs?: number;
  /** Gets the output of functions. */
  readonly log?: (text: string) => void;
  readonly progress?: (line: string) => void;
  /** Gets every AWS call of a function; the calling function is known in the strict mode. */
  readonly recordCall?: RecordCall;
};

export type Cloud = {
  /** The public origin. */
  readonly url: string;
  readonly limits: SandboxLimits | 'none';
  /** `AWS_ENDPOINT_URL_*`, for a client that bypasses the origin. */
  readonly endpoints: Readonly<Record<string, string>>;
  /** The credentials of such a client; new at each start. */
  readonly credentials: Credentials;
  /** As if the machines of all functions failed at once; sandboxes run on. */
  readonly killFunctions: () => Promise<void>;
  /** As a deploy of other code: the next invocations have that of this folder, those that run end with their own. */
  readonly deploy: (functionsFolder: string) => void;
  /**
   * To be called before a stop that people ask for, since sandboxes end with it. False when not all workspaces could be saved in
   * this time.
   */
  readonly saveWorkspaces: (msMax?: number) => Promise<boolean>;
  readonly stop: () => Promise<void>;
};

const repository = join(import.meta.dirname, '..');
const expiryAttribute = 'ttl';
const defaultSweepMs = 60_000;
type Sweep = {
  readonly everyMs: number;
  /** Absent: the janitor. */
  readonly of?: FunctionName;
  readonly input: { readonly sweep: string; readonly forSeconds?: number };
};

/** Orphans are swept as often as the rest, since a List costs nothing here. */
const sweepsOf = (sweepMs: number): readonly Sweep[] => [
  { everyMs: sweepMs, input: { sweep: 'due' } },
  { everyMs: 5 * sweepMs, input: { sweep: 'slots' } },
  { everyMs: sweepMs, input: { sweep: 'orphans' } },
  // A seal costs nothing here, and the sooner it is made, the less can be dropped unseen.
  { everyMs: sweepMs, input: { sweep: 'seals' } },
  { everyMs: sweepMs, of: 'schedules', input: { sweep: 'schedules' } },
  { everyMs: sweepMs, input: { sweep: 'mcp', forSeconds: mcpSweepSeconds(sweepMs) } },
];
/** Ends before the next sweep starts. */
const mcpSweepSeconds = (sweepMs: number): number =>
  Math.max(0, Math.min(mcpSweepSecondsMax, Math.floor(sweepMs / 1000) - 10));

export const startCloud = async (options: CloudOptions): Promise<Cloud> => {
  const { home, variables, log = ignore, progress = ignore, sweepMs = defaultSweepMs } = options;
  let publicUrl = '';
  await using starting = new AsyncDisposableStack();
  const started = <S extends { readonly stop: () => Promise<void> }>(service: S): S => {
    starting.defer(service.stop);
    return service;
  };

  const keys = makeKeys();
  progress('Starting the table');
  const dynamoDb = started(
    await startDynamoDb({
      folder: join(home, 'dynamodb'),
      table: platformTable(tableName),
      expiryAttribute,
      other: otherDynamoDb(variables),
      keys,
    }),
  );
  const s3 = started(await startS3({ folder: join(home, 's3'), buckets: [workspaceBucket], keys }));
  const secretsManager = started(await startSecretsManager({ folder: join(home, 'secrets'), keys }));
  const lambda = started(await startLambda({ mode: modeOf(options), log, keys }));
  const events = started(
    await startEvents({
      functions: lambda,
      rules: rulesOf(sweepMs, () => publicUrl),
      taskStateFunction: functionNamed('task-events'),
    }),
  );
  const scheduler = started(
    await startScheduler({ folder: join(home, 'scheduler'), functions: lambda, keys }),
  );
  const templates = templatesOf(variables);
  progress('Starting the sandbox host');
  const sandboxes = await options.startSandboxHost?.({
    ...{ home, keys, templates, progress, onTaskEvent: events.taskStateChanged },
    log: (line) => log(`${line}\n`),
  });
  if (sandboxes !== undefined) started(sandboxes);
  const gateway = started(await openGateway(options, lambda, keys));

  const { recordCall } = options;
  const recorded = async (url: string): Promise<string> =>
    recordCall === undefined ? url : started(await startRecorder(url, recordCall, keys)).url;
  const services = { dynamoDb, lambda, s3, secretsManager, scheduler, ecs: sandboxes };
  const endpoints = await endpointsOf(services, recorded);
  progress('Starting the functions');
  const functions = {
    turnTimeoutMs: options.turnTimeoutMs,
    relayTimeoutMs: options.relayTimeoutMs,
    variables: functionVariables({
      ...options,
      sealKeyFile: await loadSealKey(home),
      connectionsUrl: await recorded(gateway.url),
      limits: sandboxes?.limits ?? 'best effort',
      ...{ templates, templatesProblem: sandboxes?.templatesProblem, sandboxPort: sandboxes?.sandboxPort },
    }),
    endpoints: {
      ...endpoints,
      POWERTOOLS_SERVICE_NAME: 'sallyport',
      POWERTOOLS_METRICS_NAMESPACE: 'Sallyport',
    },
  };
  const deployFrom = (entryOf: (name: FunctionName) => string): void =>
    lambda.deploy(deployedFunctions({ ...functions, entryOf }));
  const deploy = (folder: string): void => deployFrom((name) => join(folder, name, 'handler.ts'));
  if (options.functionsFolder === undefined) deployFrom(await bundledFunctions());
  else deploy(options.functionsFolder);
  if (otherDynamoDb(variables) === undefined) await takeOver(lambda, log);
  publicUrl = await gateway.open(options.port);
  events.fire();
  scheduler.fire();
  const running = starting.move();
  return {
    ...{ url: publicUrl, endpoints, limits: sandboxes?.limits ?? 'none', deploy },
    credentials: keys.issue('local'),
    killFunctions: lambda.kill,
    saveWorkspaces: (msMax) => saveWorkspaces(lambda, msMax),
    stop: () => running.disposeAsync(),
  };
};

type Urls = Readonly<Record<'dynamoDb' | 'lambda' | 's3' | 'secretsManager' | 'scheduler', HasUrl>> & {
  readonly ecs: HasUrl | undefined;
};
type HasUrl = { readonly url: string };

const endpointsOf = async (
  { dynamoDb, lambda, s3, secretsManager, scheduler, ecs }: Urls,
  recorded: (url: string) => Promise<string>,
): Promise<Readonly<Record<string, string>>> => ({
  AWS_ENDPOINT_URL_DYNAMODB: await recorded(dynamoDb.url),
  AWS_ENDPOINT_URL_LAMBDA: await recorded(lambda.url),
  AWS_ENDPOINT_URL_S3: await recorded(s3.url),
  AWS_ENDPOINT_URL_SECRETS_MANAGER: await recorded(secretsManager.url),
  AWS_ENDPOINT_URL_SCHEDULER: await recorded(scheduler.url),
  ...(ecs === undefined ? {} : { AWS_ENDPOINT_URL_ECS: await recorded(ecs.url) }),
});

const modeOf = ({ mode, strict }: CloudOptions): LambdaMode =>
  mode ?? (strict ? strictLambda : { kind: 'shared' });

const openGateway = (options: CloudOptions, functions: FunctionHost, keys: Keys): Promise<ApiGateway> =>
  startApiGateway({
    functions,
    keys,
    restRoutes: [
      { resource: '/api/{proxy+}', functionName: functionNamed('api') },
      { resource: '/oauth/{proxy+}', functionName: functionNamed('api') },
      { resource: '/mcp', functionName: functionNamed('mcp') },
      { resource: '/.well-known/{proxy+}', functionName: functionNamed('mcp') },
    ],
    previewCheckMs: options.previewCheckMs,
    limits: options.strict ? { rest: strictRestLimits } : {},
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
    // A run waits minutes for one receiver that is down.
    overlaps: true,
  },
];

/** Those of an invalid text are none: the functions refuse the start with the reason. */
const templatesOf = (variables: Variables): readonly NamedTemplate[] => {
  const settings = readVariables(sandboxSettings, variables);
  return settings.ok ? (settings.value.SANDBOX_TEMPLATES ?? []) : [];
};

const ignore = (): void => undefined;

/** The DynamoDB that the operator names, with the credentials of the SDK's variables. */
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
