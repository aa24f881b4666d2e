/** `WebhookDispatcher` over invocations of the sender: one synchronous, and one that is queued durably by AWS. */
import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import { testResult } from '#shared/contracts/background-tasks.ts';
import { decodeJson } from '#shared/contracts/decode.ts';
import type { Correlation } from '#shared/ports/telemetry.ts';
import type { WebhookDispatcher } from '#shared/ports/webhooks.ts';
import { invokeLater } from './lambda-invoker.ts';

export const makeWebhookDispatcher = (
  client: LambdaClient,
  FunctionName: string,
  correlation: Pick<Correlation, 'id'>,
): WebhookDispatcher => ({
  test: async (test) => {
    const Payload = JSON.stringify({ test, correlationId: correlation.id() });
    const answer = await client.send(new InvokeCommand({ FunctionName, Payload }));
    const decoded = decodeJson(testResult, Buffer.from(answer.Payload ?? []).toString());
    if (answer.FunctionError !== undefined || !decoded.ok) throw new Error('the test of a webhook failed');
    return decoded.value;
  },
  dispatch: (webhook) => invokeLater(client, FunctionName, correlation)({ webhook }),
});
