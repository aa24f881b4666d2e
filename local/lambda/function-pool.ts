/**
 * The environments of one function: those that run an invocation, those that are free, and the invocations that wait for one.
 *
 * An invocation gets a free environment, or a new one, or waits: for one to become free, or for its turn to start one. It waits before
 * its time begins. Over the reserved concurrency of its function it is refused with `TooManyRequestsException` (A22). An environment
 * that nothing has asked for in a while is ended, as Lambda's are.
 */
import { AwsError } from '../endpoint/http-messages.ts';
import type { Environment } from './environment.ts';
import {
  type EventLimits,
  type FunctionDefinition,
  failure,
  type Invocation,
  type Outcome,
  type ResponseSink,
} from './function.ts';
import type { FunctionError } from './worker/messages.ts';

export type FunctionPool = {
  /** Throws `TooManyRequestsException` over the reserved concurrency. */
  readonly run: (invocation: Invocation, sink: ResponseSink) => Promise<Outcome>;
  readonly events: EventLimits;
};

type PoolOptions = {
  readonly environmentsMax: number;
  /** New environments that may load the function at once. */
  readonly startsMax: number;
  /** Milliseconds for which a free environment is kept. */
  readonly idleMsMax: number;
  readonly open: (definition: FunctionDefinition) => Environment;
  readonly log: (text: string) => void;
};

export const openFunctionPool = (definition: FunctionDefinition, options: PoolOptions): FunctionPool => {
  const { concurrencyMax = Number.POSITIVE_INFINITY } = definition;
  const environments = openEnvironments(definition, options);
  let running = 0;
  return {
    events: definition.events ?? {},
    run: async (invocation, sink) => {
      if (running >= concurrencyMax) throw throttled();
      running += 1;
      try {
        const serve: Work = (environment, started) =>
          environment.run(invocation, {
            ...sink,
            started: () => {
              started();
              sink.started?.();
            },
          });
        const outcome = await environments.use(serve).catch(withoutEnvironment);
        if (outcome.kind === 'failed') options.log(failureLine(definition, invocation, outcome.error));
        return outcome;
      } finally {
        running -= 1;
      }
    },
  };
};

/** The machine gives no thread at the moment: an invocation that fails, as any other, and not the end of the program. */
const withoutEnvironment = (cause: unknown): Outcome =>
  failure('Runtime.ExitError', cause instanceof Error ? cause.message : String(cause));

type Work = (environment: Environment, started: () => void) => Promise<Outcome>;

type Environments = { readonly use: (work: Work) => Promise<Outcome> };

const openEnvironments = (
  definition: FunctionDefinition,
  { environmentsMax, startsMax, idleMsMax, open }: PoolOptions,
): Environments => {
  const idle = openIdle(idleMsMax);
  const waiting: PromiseWithResolvers<Environment>[] = [];
  const starting = new Set<Environment>();
  let busy = 0;

  /** Gives those that wait what is free by now, or new. */
  const serve = (): void => {
    while (waiting.length > 0) {
      try {
        const environment = take();
        if (environment === undefined) return;
        waiting.shift()?.resolve(environment);
      } catch (cause) {
        waiting.shift()?.reject(cause);
      }
    }
  };
  const take = (): Environment | undefined => {
    if (busy >= environmentsMax) return undefined;
    const free = idle.take();
    if (free === undefined && starting.size >= startsMax) return undefined;
    const environment = free ?? start();
    busy += 1;
    return environment;
  };
  const start = (): Environment => {
    const environment = open(definition);
    starting.add(environment);
    return environment;
  };
  const hasStarted = (environment: Environment): void => {
    if (starting.delete(environment)) serve();
  };
  const release = async (environment: Environment, isReusable: boolean): Promise<void> => {
    busy -= 1;
    if (isReusable) idle.keep(environment);
    starting.delete(environment);
    serve();
    if (!isReusable) await environment.stop();
  };

  return {
    use: async (work) => {
      const given = Promise.withResolvers<Environment>();
      waiting.push(given);
      serve();
      const environment = await given.promise;
      let isLoaded = false;
      const started = (): void => {
        isLoaded = true;
        hasStarted(environment);
      };
      const outcome = await work(environment, started).catch(withoutEnvironment);
      await release(environment, environment.isReusable() && isReusableAfter(outcome, isLoaded));
      return outcome;
    },
  };
};

type IdleEnvironments = {
  readonly keep: (environment: Environment) => void;
  /** The one that became free last, so that those which are not needed grow old. */
  readonly take: () => Environment | undefined;
};

const openIdle = (idleMsMax: number): IdleEnvironments => {
  const timers = new Map<Environment, NodeJS.Timeout | undefined>();
  const leave = (environment: Environment): void => {
    clearTimeout(timers.get(environment));
    timers.delete(environment);
  };
  const end = (environment: Environment): void => {
    leave(environment);
    void environment.stop();
  };
  return {
    keep: (environment) => {
      const isKept = idleMsMax === Number.POSITIVE_INFINITY;
      timers.set(environment, isKept ? undefined : setTimeout(() => end(environment), idleMsMax).unref());
    },
    take: () => {
      for (const environment of [...timers.keys()].reverse()) {
        // The machine of one may have failed since: it is known to be gone, and gets no invocation.
        if (environment.isReusable()) {
          leave(environment);
          return environment;
        }
        end(environment);
      }
      return undefined;
    },
  };
};

/**
 * A client of the gateway sees only that something failed. It is an event of the platform, whose levels end with WARN: errors of
 * its own the handler has logged, an authorizer refuses by one, and a busy machine runs out of time.
 * https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-log-level.html
 */
const failureLine = ({ name }: FunctionDefinition, { requestId }: Invocation, error: FunctionError): string =>
  `${JSON.stringify({ level: 'WARN', message: 'Invoke Error', function: name, requestId, ...error })}\n`;

/** An environment that could not load its function gets no other call, and neither does one that may still be running it. */
const isReusableAfter = (outcome: Outcome, isLoaded: boolean): boolean =>
  outcome.kind === 'finished' ||
  (isLoaded && !['Sandbox.Timedout', 'Runtime.ExitError'].includes(outcome.error.errorType));

const throttled = (): AwsError =>
  new AwsError(429, 'TooManyRequestsException', {
    Reason: 'ReservedFunctionConcurrentInvocationLimitExceeded',
    Type: 'User',
    message: 'Rate Exceeded.',
  });
