/** `NoticeSender` over an asynchronous invocation of the sender. */
import type { LambdaClient } from '@aws-sdk/client-lambda';
import type { NoticeSender } from '#shared/ports/invoker.ts';
import type { Correlation } from '#shared/ports/telemetry.ts';
import { invokeLater } from './lambda-invoker.ts';

export const makeNoticeSender = (
  client: LambdaClient,
  FunctionName: string,
  correlation: Pick<Correlation, 'id'>,
): NoticeSender => ({
  sendNotices: (notices) => invokeLater(client, FunctionName, correlation)({ notices }),
});
