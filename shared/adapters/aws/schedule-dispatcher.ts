/** `ScheduleDispatcher` over an asynchronous Lambda invocation: queued durably by AWS, delivered at least once. */
import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import type { ScheduleDispatcher } from '#shared/ports/schedules.ts';
import type { Correlation } from '#shared/ports/telemetry.ts';

export const makeScheduleDispatcher = (
  client: LambdaClient,
  functionName: string,
  correlation: Pick<Correlation, 'id'>,
): ScheduleDispatcher => ({
  dispatch: async (scheduleId) => {
    const Payload = JSON.stringify({ scheduleId, correlationId: correlation.id() });
    await client.send(new InvokeCommand({ FunctionName: functionName, InvocationType: 'Event', Payload }));
  },
});
