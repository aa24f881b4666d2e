/**
 * Execution environments, in which a function runs one invocation at a time.
 *
 * `shared` puts the environments of all functions into one thread with the union of their variables, which starts at
 * once and needs little memory. `strict` gives each its own thread with exactly its function's variables and retires it
 * after `killEvery` invocations, so that no handler relies on anything that Lambda does not promise (A17, A18).
 */
import { type Keys, region } from '../endpoint/account.ts';
import {
  arnOf,
  type FunctionDefinition,
  type Invocation,
  type Outcome,
  type ResponseSink,
} from './function.ts';
import { startWorkerHost, type WorkerHost } from './worker-host.ts';

export type LambdaMode =
  | { readonly kind: 'shared' }
  | {
      readonly kind: 'strict';
      readonly killEvery?: number;
      /** The time for which a free environment is kept. Absent: five seconds. */
      readonly idleMsMax?: number;
      /** Absent: each asynchronous invocation runs at once, and only once. */
      readonly lateEvents?: LateEvents;
    }
  /** Each environment is the caller's own. */
  | { readonly kind: 'separate'; readonly start: (environment: SeparateEnvironment) => Environment };

/** Asynchronous invocations as they may come: of every few one runs late, and another runs again, late. */
export type LateEvents = { readonly every: number; readonly lateMs: number };

/** Each environment is alone, starts cold, and ends after some invocations; events come late and twice. */
export const strictLambda: LambdaMode = {
  kind: 'strict',
  killEvery: 20,
  lateEvents: { every: 4, lateMs: 300 },
};

export type SeparateEnvironment = {
  readonly definition: FunctionDefinition;
  readonly variables: Readonly<Record<string, string>>;
};

export type Environment = {
  readonly run: (invocation: Invocation, sink: ResponseSink) => Promise<Outcome>;
  readonly isReusable: () => boolean;
  readonly stop: () => Promise<void>;
};

export type EnvironmentHost = {
  readonly open: (definition: FunctionDefinition) => Environment;
  /** Ends every thread in the middle of what it does; the next invocations get others. */
  readonly kill: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

type Log = (text: string) => void;

type HostOptions = { readonly mode: LambdaMode; readonly keys: Keys; readonly log: Log };

export const hostEnvironments = (
  options: HostOptions,
  definitions: readonly FunctionDefinition[],
): EnvironmentHost =>
  options.mode.kind === 'shared'
    ? hostShared(definitions, options)
    : hostSeparate(starterOf(options.mode, options), options.keys);

const hostShared = (
  definitions: readonly FunctionDefinition[],
  { keys, log }: HostOptions,
): EnvironmentHost => {
  const environment = {
    ...runtimeVariables('sallyport', 0),
    ...roleVariables('sallyport', keys),
    ...unionOf(definitions),
  };
  const copies = new Map<string, number>();
  const nextCopy = (name: string): number => {
    const copy = copies.get(name) ?? 0;
    copies.set(name, copy + 1);
    return copy;
  };
  let calls = 0;
  let isStopped = false;
  let host: WorkerHost = startWorkerHost({ environment, log });
  for (const { entry } of definitions) host.preload(entry, 0);
  const living = (): WorkerHost => {
    if (!host.isAlive() && !isStopped) host = startWorkerHost({ environment, log });
    return host;
  };
  return {
    open: (definition) => {
      const copy = nextCopy(definition.name);
      return {
        run: async (invocation, sink) => {
          calls += 1;
          return await living().run(
            callOf(definition, { invocation, callId: calls, environment: copy }),
            sink,
          );
        },
        isReusable: () => true,
        // The number of a stopped copy is not used again; its module stays in the thread's memory.
        stop: () => Promise.resolve(),
      };
    },
    kill: () => host.stop(),
    stop: async () => {
      isStopped = true;
      await host.stop();
    },
  };
};

type StartEnvironment = (environment: SeparateEnvironment) => Environment;

const starterOf = (mode: Exclude<LambdaMode, { kind: 'shared' }>, { log }: HostOptions): StartEnvironment =>
  mode.kind === 'separate' ? mode.start : (environment) => startThread(environment, mode.killEvery, log);

const hostSeparate = (start: StartEnvironment, keys: Keys): EnvironmentHost => {
  const running = new Set<Environment>();
  const stopAll = async (): Promise<void> => void (await Promise.all([...running].map((one) => one.stop())));
  return {
    open: (definition) => {
      const variables = {
        ...runtimeVariables(definition.name, definition.memoryMb),
        ...roleVariables(definition.name, keys),
        ...definition.environment,
      };
      const environment = start({ definition, variables });
      running.add(environment);
      return {
        ...environment,
        stop: async () => {
          running.delete(environment);
          await environment.stop();
        },
      };
    },
    kill: stopAll,
    stop: stopAll,
  };
};

const startThread = (
  { definition, variables }: SeparateEnvironment,
  killEvery: number | undefined,
  log: Log,
): Environment => {
  const host = startWorkerHost({ environment: variables, memoryMb: definition.memoryMb, log });
  let calls = 0;
  return {
    run: (invocation, sink) => {
      calls += 1;
      return host.run(callOf(definition, { invocation, callId: calls, environment: undefined }), sink);
    },
    isReusable: () => host.isAlive() && (killEvery === undefined || calls < killEvery),
    stop: () => host.stop(),
  };
};

type CallParts = {
  readonly invocation: Invocation;
  readonly callId: number;
  readonly environment: number | undefined;
};

const callOf = (definition: FunctionDefinition, { invocation, callId, environment }: CallParts) => ({
  callId,
  requestId: invocation.requestId,
  payload: invocation.payload,
  functionName: definition.name,
  functionArn: arnOf(definition.name),
  memoryMb: definition.memoryMb,
  timeoutMs: definition.timeoutMs,
  entry: definition.entry,
  environment,
});

/** A machine's profiles are those of its user's account: they may name endpoints, certificates and regions. */
export const noProfiles = {
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
};

/** https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html, "Defined runtime environment variables". */
const runtimeVariables = (name: string, memoryMb: number): Record<string, string> => ({
  AWS_REGION: region,
  AWS_DEFAULT_REGION: region,
  AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
  AWS_LAMBDA_FUNCTION_NAME: name,
  AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMb),
  AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
  AWS_EC2_METADATA_DISABLED: 'true',
  ...noProfiles,
  TZ: ':UTC',
});

/** The credentials of the function's role: a signature identifies the function. */
const roleVariables = (name: string, keys: Keys): Record<string, string> => {
  const { accessKeyId, secretAccessKey } = keys.issue(name);
  return { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
};

const unionOf = (definitions: readonly FunctionDefinition[]): Record<string, string> => {
  const union: Record<string, string> = {};
  for (const { name, environment } of definitions) {
    for (const [variable, value] of Object.entries(environment)) {
      if (union[variable] !== undefined && union[variable] !== value) {
        throw new Error(
          `${variable} of ${name} differs from that of another function: the shared mode has one environment`,
        );
      }
      union[variable] = value;
    }
  }
  return union;
};
