/** `ScheduleDispatcher` over an asynchronous Lambda invocation: queued durably by AWS, delivered at least once. */
import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import type { ScheduleDispatcher } from '#shared/ports/schedules.ts';

export const makeScheduleDispatcher = (client: LambdaClient, functionName: string): ScheduleDispatcher => ({
  dispatch: async (scheduleId, correlationId) => {
    const Payload = JSON.stringify({ scheduleId, correlationId });
    await client.send(new InvokeCommand({ FunctionName: functionName, InvocationType: 'Event', Payload }));
  },
});
