/** The embedded cloud inside the test's own process: its endpoints are at hand, and the janitor comes when it is called. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DescribeTasksCommand, ECSClient, ListTasksCommand } from '@aws-sdk/client-ecs';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { systemJitter, type Table } from '#shared/adapters/aws/dynamo/table.ts';
import { type CloudOptions, startCloud } from '../../local/cloud.ts';
import type { Faults } from '../../local/ecs/faults.ts';
import { start as startEcs } from '../../local/ecs/start.ts';
import type { Credentials } from '../../local/endpoint/account.ts';
import type { LambdaMode } from '../../local/lambda/environment.ts';
import type { RecordCall } from '../../local/recorder/start.ts';
import { sendSigned } from '../signed-request.ts';
import { isStrict, unthrottled } from './server.ts';

export type EmbeddedCloud = {
  readonly url: string;
  readonly token: string;
  readonly home: string;
  readonly table: Table;
  readonly ecs: ECSClient;
  /** `AWS_ENDPOINT_URL_*`, and what their clients sign with. */
  readonly endpoints: Readonly<Record<string, string>>;
  readonly credentials: Credentials;
  /** Output of the functions and the sandboxes. */
  readonly printed: () => string;
  readonly request: (path: string, init?: RequestInit) => Promise<Response>;
  /** The parsed answer of a request that must succeed. */
  readonly ask: <T>(path: string, init?: RequestInit) => Promise<T>;
  /** One task of the janitor, as EventBridge or another function would give it; its report. */
  readonly janitor: (task: Readonly<Record<string, unknown>>) => Promise<Record<string, unknown>>;
  /** As `janitor`, for the function of schedules. */
  readonly schedules: (task: Readonly<Record<string, unknown>>) => Promise<Record<string, unknown>>;
  /** As `janitor`, for the synthetic check. */
  readonly synthetic: (task: Readonly<Record<string, unknown>>) => Promise<Record<string, unknown>>;
  /** As `janitor`, for the sender of webhooks. */
  readonly webhooks: (task: Readonly<Record<string, unknown>>) => Promise<Record<string, unknown>>;
  readonly setFaults: (faults: Faults) => Promise<void>;
  readonly runningTasks: () => Promise<readonly string[]>;
  /** Until no task is between its end and the event that tells it last. */
  readonly untilEndsAreTold: () => Promise<unknown>;
  /** As if the machines of all functions failed at once: what they do ends in its middle. */
  readonly killFunctions: () => Promise<void>;
  /** Other code for the next invocations: the folder `functions` of another revision. */
  readonly deploy: (functionsFolder: string) => void;
  readonly stop: () => Promise<void>;
};

export type EmbeddedOptions = {
  readonly variables?: Readonly<Record<string, string>>;
  readonly faults?: Faults;
  readonly sweepMs?: number;
  readonly turnTimeoutMs?: number;
  readonly relayTimeoutMs?: number;
  readonly mode?: LambdaMode;
  readonly recordCall?: RecordCall;
  readonly previewCheckMs?: number;
  readonly functionsFolder?: string;
  /** Absent: that of this revision. */
  readonly startSandboxHost?: NonNullable<CloudOptions['startSandboxHost']>;
  /** Fills the data folder before the start. */
  readonly fill?: (home: string) => Promise<void>;
};

/** No sweep comes by itself unless it is asked for. */
const never = 2_000_000;

export const openEmbeddedCloud = async ({
  variables = {},
  faults = {},
  sweepMs = never,
  turnTimeoutMs,
  relayTimeoutMs,
  mode,
  recordCall,
  previewCheckMs,
  functionsFolder,
  startSandboxHost = (options) => startEcs({ ...options, faults }),
  fill,
}: EmbeddedOptions = {}): Promise<EmbeddedCloud> => {
  const home = await mkdtemp(join(tmpdir(), 'sallyport-embedded-'));
  await fill?.(home);
  const token = `sp_${'cd'.repeat(32)}`;
  const lines: string[] = [];
  const cloud = await startCloud({
    home,
    port: 0,
    token,
    sandboxSecret: 'a secret of at least thirty-two characters',
    variables: { ...unthrottled, ...variables },
    sweepMs,
    strict: isStrict,
    ...(turnTimeoutMs === undefined ? {} : { turnTimeoutMs }),
    ...(relayTimeoutMs === undefined ? {} : { relayTimeoutMs }),
    ...(mode === undefined ? {} : { mode }),
    ...(recordCall === undefined ? {} : { recordCall }),
    ...(previewCheckMs === undefined ? {} : { previewCheckMs }),
    ...(functionsFolder === undefined ? {} : { functionsFolder }),
    startSandboxHost,
    log: (text) => lines.push(text),
  });
  const { AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL_ECS, AWS_ENDPOINT_URL_LAMBDA } = cloud.endpoints;
  const local = { region: 'us-east-1', credentials: cloud.credentials } as const;
  const ecs = new ECSClient({ ...local, endpoint: AWS_ENDPOINT_URL_ECS ?? '' });
  const lambda = new LambdaClient({ ...local, endpoint: AWS_ENDPOINT_URL_LAMBDA ?? '', maxAttempts: 1 });
  const dynamo = new DynamoDBClient({ ...local, endpoint: AWS_ENDPOINT_URL_DYNAMODB ?? '' });
  const send = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${cloud.url}${path}`, { ...init, headers: { authorization: `Bearer ${token}`, ...init.headers } });
  const request = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const response = await send(path, init);
    return (await isStarting(response)) ? request(path, init) : response;
  };
  const perform = async (name: string, task: object): Promise<Record<string, unknown>> => {
    const { Payload, FunctionError } = await lambda.send(
      new InvokeCommand({ FunctionName: `sallyport-${name}`, Payload: JSON.stringify(task) }),
    );
    const text = Buffer.from(Payload ?? []).toString();
    if (FunctionError !== undefined) throw new Error(text);
    return JSON.parse(text);
  };
  return {
    url: cloud.url,
    token,
    home,
    table: { name: 'sallyport', jitter: systemJitter, client: DynamoDBDocumentClient.from(dynamo) },
    ecs,
    endpoints: cloud.endpoints,
    credentials: cloud.credentials,
    printed: () => lines.join(''),
    request,
    ask: async (path, init) => {
      const response = await request(path, init);
      const text = await response.text();
      if (!response.ok) throw new Error(`${init?.method ?? 'GET'} ${path}: ${response.status} ${text}`);
      return JSON.parse(text);
    },
    janitor: (task) => perform('janitor', task),
    schedules: (task) => perform('schedules', task),
    synthetic: (task) => perform('synthetic', task),
    webhooks: (task) => perform('webhooks', task),
    setFaults: async (wanted) => {
      const { status, text } = await sendSigned(
        {
          ...{ url: `${AWS_ENDPOINT_URL_ECS}/faults`, service: 'ecs' },
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(wanted),
        },
        cloud.credentials,
      );
      if (status !== 204) throw new Error(text);
    },
    runningTasks: async () => {
      const found: string[] = [];
      let nextToken: string | undefined;
      do {
        const page = await ecs.send(new ListTasksCommand({ cluster: 'sallyport', nextToken }));
        found.push(...(page.taskArns ?? []));
        nextToken = page.nextToken;
      } while (nextToken !== undefined);
      return found;
    },
    untilEndsAreTold: () =>
      eventually(
        async () => {
          const { taskArns = [] } = await ecs.send(
            new ListTasksCommand({ cluster: 'sallyport', desiredStatus: 'STOPPED' }),
          );
          if (taskArns.length === 0) return [];
          return (
            (await ecs.send(new DescribeTasksCommand({ cluster: 'sallyport', tasks: taskArns }))).tasks ?? []
          );
        },
        (tasks) => tasks.every(({ lastStatus }) => lastStatus === 'STOPPED'),
      ),
    killFunctions: cloud.killFunctions,
    deploy: cloud.deploy,
    stop: async () => {
      await cloud.stop();
      ecs.destroy();
      lambda.destroy();
      dynamo.destroy();
      await rm(home, { recursive: true, force: true });
      requireNoCrash(lines);
    },
  };
};

/** Tests end sandboxes by signals, and users by their sessions: one that ends by itself with a failure has a bug. */
const requireNoCrash = (lines: readonly string[]): void => {
  const crash = lines.find(
    (line) => line.includes('"event":"sandbox_lost"') && line.includes('exit code 1;'),
  );
  if (crash !== undefined) throw new Error(`the server of a sandbox crashed: ${crash}\n${lines.join('\n')}`);
};

const pauseMsMin = 25;
/** One question costs about 10 ms of CPU: what takes long is asked after more seldom. */
const pauseMsMax = 250;

/** A ceiling for what never comes, not a measure: a busy machine takes many times its usual time. */
const waitMsMax = 120_000;

/** Nothing was begun: its client asks again, as it is told. A busy machine starts a sandbox in more than the 45 s of a request. */
const isStarting = async (response: Response): Promise<boolean> =>
  response.status === 503 && (await response.clone().text()).includes('"sandbox_starting"');

/** Asks again until the answer holds; fails with the last one. */
export const eventually = async <T>(
  ask: () => Promise<T>,
  holds: (answer: T) => boolean,
  msMax = waitMsMax,
): Promise<T> => {
  const deadline = Date.now() + msMax;
  for (let pauseMs = pauseMsMin; ; pauseMs = Math.min(1.5 * pauseMs, pauseMsMax)) {
    const answer = await ask();
    if (holds(answer)) return answer;
    if (Date.now() > deadline) throw new Error(`not in ${msMax} ms: ${inspect(answer, { depth: 6 })}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
};
