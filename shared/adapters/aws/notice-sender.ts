/** `NoticeSender` over an asynchronous invocation of the sender: queued durably by AWS, delivered at least once. */
import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import type { NoticeSender } from '#shared/ports/invoker.ts';

export type NoticeSenderSettings = {
  readonly functionName: string;
  /** The correlation id of the caller that wrote the notices. */
  readonly followed: () => string | undefined;
};

export const makeNoticeSender = (
  client: LambdaClient,
  { functionName: FunctionName, followed }: NoticeSenderSettings,
): NoticeSender => ({
  sendNotices: async (notices) => {
    const Payload = JSON.stringify({ notices, correlationId: followed() });
    await client.send(new InvokeCommand({ FunctionName, InvocationType: 'Event', Payload }));
  },
});
