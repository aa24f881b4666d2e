/**
 * The environments of one function: idle ones are reused, and a new one is made when all are busy, up to a cap.
 *
 * Over the function's reserved concurrency an invocation is throttled. Over the cap, which belongs to the machine and
 * not to the function, it waits.
 */
import { AwsError } from '../endpoint/aws-error.ts';
import type { Environment } from './environment.ts';
import type { FunctionDefinition, Invocation, Outcome, ResponseSink } from './function.ts';

export type FunctionPool = {
  readonly definition: FunctionDefinition;
  /** Throws `TooManyRequestsException` over the reserved concurrency. */
  readonly run: (invocation: Invocation, sink: ResponseSink) => Promise<Outcome>;
};

export type PoolOptions = {
  readonly environmentsMax: number;
  readonly open: (definition: FunctionDefinition) => Environment;
};

export const openPool = (
  definition: FunctionDefinition,
  { environmentsMax, open }: PoolOptions,
): FunctionPool => {
  const idle: Environment[] = [];
  const waiting: ((environment: Environment) => void)[] = [];
  let busy = 0;

  const acquire = async (): Promise<Environment> => {
    if (busy >= environmentsMax) return await new Promise((resolve) => waiting.push(resolve));
    busy += 1;
    return idle.pop() ?? open(definition);
  };
  const release = async (environment: Environment, outcome: Outcome): Promise<void> => {
    const isReusable = environment.isReusable() && !isUnusable(outcome);
    const next = waiting.shift();
    if (next !== undefined) next(isReusable ? environment : open(definition));
    else {
      busy -= 1;
      if (isReusable) idle.push(environment);
    }
    if (!isReusable) await environment.stop();
  };

  return {
    definition,
    run: async (invocation, sink) => {
      if (busy >= (definition.concurrencyMax ?? Number.POSITIVE_INFINITY)) throw throttled();
      const environment = await acquire();
      const outcome = await environment.run(invocation, sink);
      await release(environment, outcome);
      return outcome;
    },
  };
};

/** An environment whose function timed out may still be running it, so it is not reused. */
const isUnusable = (outcome: Outcome): boolean =>
  outcome.kind === 'failed' && ['Sandbox.Timedout', 'Runtime.ExitError'].includes(outcome.error.errorType);

const throttled = (): AwsError =>
  new AwsError(429, 'TooManyRequestsException', {
    Reason: 'ReservedFunctionConcurrentInvocationLimitExceeded',
    Type: 'User',
    message: 'Rate Exceeded.',
  });
