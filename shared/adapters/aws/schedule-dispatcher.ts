/** `ScheduleDispatcher` over an asynchronous invocation of the schedules. */
import type { LambdaClient } from '@aws-sdk/client-lambda';
import type { ScheduleDispatcher } from '#shared/ports/schedules.ts';
import type { Correlation } from '#shared/ports/telemetry.ts';
import { invokeLater } from './lambda-invoker.ts';

export const makeScheduleDispatcher = (
  client: LambdaClient,
  functionName: string,
  correlation: Pick<Correlation, 'id'>,
): ScheduleDispatcher => ({
  dispatch: (scheduleId) => invokeLater(client, functionName, correlation)({ scheduleId }),
});
