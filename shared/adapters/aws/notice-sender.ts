/** `NoticeSender` over an asynchronous invocation of the sender: queued durably by AWS, delivered at least once. */
import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import type { NoticeSender } from '#shared/ports/invoker.ts';
import type { Correlation } from '#shared/ports/telemetry.ts';

export const makeNoticeSender = (
  client: LambdaClient,
  FunctionName: string,
  correlation: Pick<Correlation, 'id'>,
): NoticeSender => ({
  sendNotices: async (notices) => {
    const Payload = JSON.stringify({ notices, correlationId: correlation.id() });
    await client.send(new InvokeCommand({ FunctionName, InvocationType: 'Event', Payload }));
  },
});
