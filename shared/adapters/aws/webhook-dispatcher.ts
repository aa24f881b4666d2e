/** `WebhookDispatcher` over invocations of the sender: one synchronous, and one that is queued durably by AWS. */
import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import { decodeJson } from '#shared/contracts/decode.ts';
import { testResult } from '#shared/contracts/tasks.ts';
import type { WebhookDispatcher } from '#shared/ports/webhooks.ts';

export const makeWebhookDispatcher = (client: LambdaClient, FunctionName: string): WebhookDispatcher => ({
  test: async (test, correlationId) => {
    const Payload = JSON.stringify({ test, correlationId });
    const answer = await client.send(new InvokeCommand({ FunctionName, Payload }));
    const decoded = decodeJson(testResult, Buffer.from(answer.Payload ?? []).toString());
    if (answer.FunctionError !== undefined || !decoded.ok) throw new Error('the test of a webhook failed');
    return decoded.value;
  },
  dispatch: async (webhook, correlationId) => {
    const Payload = JSON.stringify({ webhook, correlationId });
    await client.send(new InvokeCommand({ FunctionName, InvocationType: 'Event', Payload }));
  },
});
