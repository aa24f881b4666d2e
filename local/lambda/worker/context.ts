/**
 * The context object that a handler gets as its last argument.
 * https://docs.aws.amazon.com/lambda/latest/dg/nodejs-context.html
 */
import type { Context } from 'aws-lambda';
import type { Call } from './messages.ts';

/** Node 24 has no callbacks; the three old functions of the type do not exist on AWS either. */
export type RuntimeContext = Omit<Context, 'done' | 'fail' | 'succeed'>;

export const makeContext = (call: Call): RuntimeContext => {
  const deadlineAt = Date.now() + call.timeoutMs;
  return {
    awsRequestId: call.requestId,
    functionName: call.functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: call.functionArn,
    memoryLimitInMB: String(call.memoryMb),
    logGroupName: `/aws/lambda/${call.functionName}`,
    logStreamName: `local/[$LATEST]${call.environment ?? 0}`,
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => Math.max(0, deadlineAt - Date.now()),
  };
};
