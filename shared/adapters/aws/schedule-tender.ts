/** `ScheduleTender` over an asynchronous Lambda invocation: queued durably by AWS, delivered at least once. */
import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import type { ScheduleTender } from '#shared/ports/scheduler.ts';

export const makeScheduleTender = (client: LambdaClient, functionName: string): ScheduleTender => ({
  tend: async (scheduleId, correlationId) => {
    const Payload = JSON.stringify({ scheduleId, correlationId });
    await client.send(new InvokeCommand({ FunctionName: functionName, InvocationType: 'Event', Payload }));
  },
});
