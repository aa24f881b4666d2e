/**
 * The functions of one cloud, their environments, and the three ways to invoke them.
 *
 * The Lambda endpoint, the gateway and the event rules all invoke them here, so limits and retries exist once (A19,
 * A22). Asynchronous invocations live in memory: a cloud that stops drops those it had accepted, which AWS would not;
 * the program's own recovery (the janitor drives unfinished turns on) does not depend on them.
 */
import { randomUUID } from 'node:crypto';
import type { Keys } from '../endpoint/account.ts';
import { AwsError } from '../endpoint/http-messages.ts';
import { type EnvironmentHost, hostEnvironments, type LambdaMode, type LateEvents } from './environment.ts';
import {
  arnOf,
  type Buffered,
  bufferAnswer,
  type EventLimits,
  type FunctionDefinition,
  failure,
  nameFrom,
  type Outcome,
  type ResponseSink,
} from './function.ts';
import { type FunctionPool, openFunctionPool } from './function-pool.ts';

type InvokeOptions = {
  readonly requestId?: string;
  /** Called when its environment has loaded it, and it begins. */
  readonly started?: () => void;
};

export interface FunctionHost {
  /** Runs it and collects the answer (`RequestResponse`). */
  invoke(name: string, payload: string, options?: InvokeOptions): Promise<Buffered>;
  /** Accepts it and runs it later, up to three times under one request id (`Event`). */
  invokeLater(name: string, payload: string, requestId?: string): void;
  /** As `invokeLater`, until no attempt of it is to come: never, when the host is stopped before. */
  invokeToEnd(name: string, payload: string): Promise<void>;
  /** Runs it and streams the answer (`InvokeWithResponseStream`). */
  invokeStreamed(name: string, payload: string, sink: ResponseSink): Promise<Outcome>;
}

export type FunctionHostOptions = {
  readonly mode: LambdaMode;
  /** Each environment gets its own key. */
  readonly keys: Keys;
  readonly log: (text: string) => void;
  /** Waits before the second and the third attempt of a failed asynchronous invocation. */
  readonly retryDelaysMs?: readonly number[];
};

export type RunningFunctionHost = FunctionHost & {
  /** Replaces functions for the next invocations; what runs goes on with the code that it began with. */
  readonly deploy: (definitions: readonly FunctionDefinition[]) => void;
  /** As if the machines of all functions failed: what runs ends in its middle, and fails for its caller. */
  readonly kill: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

/** https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html */
const requestBytesMax = 6 * 1024 * 1024;
const answerBytesMax = 6 * 1024 * 1024 + 100;
const eventBytesMax = 1024 * 1024;
const environmentsMax = 200;
/**
 * Invocations of a short function at once whose caller waits: all share the processors of one machine, more would take each other's time,
 * and run out of it together. The others wait before they begin, where no time limit runs. A function of events is no such one: frames
 * that wait for a greeting would hold up the greeter behind others that only sleep.
 */
const shortAtOnceMax = 32;
const shortMsMax = 30_000;
/** Invocations of any function at once, where each has a thread, which takes 40 MB. */
const threadsMax = 64;
/** Threads of one function that start at once: if more did, all would be later than those that wait and find one free. */
const coldStartsMax = 4;
/** Lambda keeps a free environment for minutes; its thread takes 40 MB here. */
const idleMsMaxDefault = 5000;
/** AWS waits one minute, then two. */
const retryDelaysMsDefault = [200, 1000];

export const openFunctionHost = (options: FunctionHostOptions): RunningFunctionHost => {
  const { retryDelaysMs = retryDelaysMsDefault } = options;
  const pools = new Map<string, FunctionPool>();
  const background = retryInBackground(retryDelaysMs);
  const runsOf = planEvents(options.mode.kind === 'strict' ? options.mode.lateEvents : undefined);
  const environments: EnvironmentHost[] = [];

  return {
    deploy: (definitions) => {
      const host = hostEnvironments(options, definitions);
      environments.push(host);
      const isStrict = options.mode.kind === 'strict';
      for (const definition of definitions) {
        pools.set(
          definition.name,
          openFunctionPool(definition, {
            environmentsMax: Math.min(
              environmentsMax,
              isStrict ? threadsMax : environmentsMax,
              isShort(definition) ? shortAtOnceMax : environmentsMax,
            ),
            startsMax: isStrict ? coldStartsMax : Number.POSITIVE_INFINITY,
            idleMsMax: idleMsMaxIn(options.mode),
            open: host.open,
            log: options.log,
          }),
        );
      }
    },
    ...invokers(pools, background, runsOf),
    kill: async () => void (await Promise.all(environments.map((host) => host.kill()))),
    stop: async () => {
      background.stop();
      await Promise.all(environments.map((host) => host.stop()));
    },
  };
};

const isShort = ({ timeoutMs, events }: FunctionDefinition): boolean =>
  timeoutMs <= shortMsMax && events === undefined;

const idleMsMaxIn = (mode: LambdaMode): number =>
  mode.kind === 'strict' ? (mode.idleMsMax ?? idleMsMaxDefault) : Number.POSITIVE_INFINITY;

const invokers = (
  pools: ReadonlyMap<string, FunctionPool>,
  background: AsyncRetry,
  runsOf: () => readonly number[],
): FunctionHost => {
  const find = (reference: string): FunctionPool =>
    pools.get(nameFrom(reference)) ?? refuseUnknown(reference);
  const invoke = async (
    name: string,
    payload: string,
    { requestId = randomUUID(), started }: InvokeOptions = {},
  ): Promise<Buffered> => {
    refuseTooLarge(payload, requestBytesMax, 'InvokeFunction');
    const answer = await bufferAnswer((sink) => find(name).run({ requestId, payload }, sink), started);
    return refuseLargeAnswer(answer);
  };
  const accept = (name: string, payload: string, requestId: string): Promise<unknown> => {
    refuseTooLarge(payload, eventBytesMax, 'InvokeAsync');
    const pool = find(name);
    const attempt = async () => {
      const { outcome } = await bufferAnswer((sink) => pool.run({ requestId, payload }, sink));
      return outcome;
    };
    return Promise.all(runsOf().map((delayMs) => background.run(attempt, { delayMs, ...pool.events })));
  };
  return {
    invoke,
    invokeLater: (name, payload, requestId = randomUUID()) => void accept(name, payload, requestId),
    invokeToEnd: async (name, payload) => void (await accept(name, payload, randomUUID())),
    invokeStreamed: async (name, payload, sink) => {
      refuseTooLarge(payload, requestBytesMax, 'InvokeWithResponseStream');
      return await find(name).run({ requestId: randomUUID(), payload }, sink);
    },
  };
};

const refuseUnknown = (reference: string): never => {
  throw new AwsError(404, 'ResourceNotFoundException', {
    Type: 'User',
    Message: `Function not found: ${arnOf(nameFrom(reference))}`,
  });
};

const refuseTooLarge = (payload: string, bytesMax: number, operation: string): void => {
  if (Buffer.byteLength(payload) <= bytesMax) return;
  throw new AwsError(413, 'RequestTooLargeException', {
    Type: 'User',
    message: `Request must be smaller than ${bytesMax} bytes for the ${operation} operation`,
  });
};

const refuseLargeAnswer = (answer: Buffered): Buffered => {
  const bytes = Buffer.byteLength(answer.payload);
  if (bytes <= answerBytesMax) return answer;
  const text = `Response payload size exceeded maximum allowed payload size (${answerBytesMax} bytes).`;
  return { outcome: failure('Function.ResponseSizeTooLarge', text), payload: '' };
};

/** The delays of the runs of the next asynchronous invocation (A20). */
const planEvents = (late: LateEvents | undefined): (() => readonly number[]) => {
  if (late === undefined) return () => [0];
  let accepted = 0;
  return () => {
    accepted += 1;
    if (accepted % late.every === 0) return [0, late.lateMs];
    return accepted % late.every === 1 ? [late.lateMs] : [0];
  };
};

type AsyncRun = EventLimits & { readonly delayMs: number };

type AsyncRetry = {
  readonly run: (attempt: () => Promise<Outcome>, run: AsyncRun) => Promise<void>;
  readonly stop: () => void;
};

const throttleDelayMs = 200;
const ageMsMaxDefault = 6 * 3600 * 1000;

/**
 * Tries each invocation up to three times, without a waiting caller (A20), or as often as its function's settings say.
 * https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html
 */
const retryInBackground = (retryDelaysMs: readonly number[]): AsyncRetry => {
  const timers = new Set<NodeJS.Timeout>();
  let isStopped = false;

  const later = (delayMs: number, work: () => Promise<void>): Promise<void> =>
    new Promise((resolve) => {
      if (isStopped) return;
      const timer = setTimeout(() => {
        timers.delete(timer);
        resolve(work());
      }, delayMs);
      timers.add(timer);
    });
  const attempts = (
    attempt: () => Promise<Outcome>,
    { retriesMax = retryDelaysMs.length, ageMsMax = ageMsMaxDefault }: EventLimits,
  ): (() => Promise<void>) => {
    const tooOldAt = Date.now() + ageMsMax;
    const next = async (failures: number): Promise<void> => {
      const outcome = await attempt().catch(asThrottle);
      const isThrottled = outcome === 'throttled';
      const delayMs = isThrottled ? throttleDelayMs : retryDelaysMs.slice(0, retriesMax)[failures];
      const isOver = !isThrottled && outcome.kind === 'finished';
      if (isOver || delayMs === undefined || Date.now() + delayMs > tooOldAt) return undefined;
      return later(delayMs, () => next(isThrottled ? failures : failures + 1));
    };
    return () => next(0);
  };

  return {
    // A timer of no time still costs a millisecond or more.
    run: (attempt, { delayMs, ...limits }) => {
      const begin = attempts(attempt, limits);
      return delayMs === 0 && !isStopped ? begin() : later(delayMs, begin);
    },
    stop: () => {
      isStopped = true;
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
};

/** Throttling does not count as an attempt: AWS keeps such an event until it is too old. */
const asThrottle = (cause: unknown): 'throttled' => {
  if (cause instanceof AwsError && cause.status === 429) return 'throttled';
  throw cause;
};
