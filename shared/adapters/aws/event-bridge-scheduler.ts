/**
 * `Scheduler` on EventBridge Scheduler: one one-time schedule per run, named after it, that deletes itself once it has
 * invoked its target. A name of its own per run, since the deletion may come after the next run was armed.
 *
 * https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html#one-time ·
 * https://docs.aws.amazon.com/scheduler/latest/APIReference/API_CreateSchedule.html
 */
import { CreateScheduleCommand, DeleteScheduleCommand, SchedulerClient } from '@aws-sdk/client-scheduler';
import type { ScheduleId } from '#shared/domain/schedule/schedule.ts';
import type { Scheduler } from '#shared/ports/schedules.ts';

export type SchedulerTarget = {
  readonly group: string;
  /** The function that dispatches schedules, and the role that may invoke it and nothing else. */
  readonly functionArn: string;
  readonly roleArn: string;
  /** The dead-letter queue of invocations that could not be delivered. */
  readonly deadLettersArn: string;
};

/** After that the sweep has found the run missed. */
const eventSecondsMax = 300;
const retriesMax = 20;

/** Attempts at a throttled or lost request; after them the sweep arms. */
const attemptsMax = 4;

/** Separate from the other clients: only one function bundles this one. */
export const openScheduler = (target: SchedulerTarget): Scheduler =>
  makeScheduler(new SchedulerClient({ maxAttempts: attemptsMax }), target);

export const makeScheduler = (client: SchedulerClient, target: SchedulerTarget): Scheduler => ({
  arm: async (schedule, runAt) => {
    const { group, functionArn, roleArn, deadLettersArn } = target;
    const command = new CreateScheduleCommand({
      GroupName: group,
      Name: nameOf(schedule, runAt),
      ScheduleExpression: `at(${new Date(runAt).toISOString().slice(0, 19)})`,
      ScheduleExpressionTimezone: 'UTC',
      FlexibleTimeWindow: { Mode: 'OFF' },
      ActionAfterCompletion: 'DELETE',
      Target: {
        Arn: functionArn,
        RoleArn: roleArn,
        Input: JSON.stringify({ scheduleId: schedule, runAt }),
        RetryPolicy: { MaximumEventAgeInSeconds: eventSecondsMax, MaximumRetryAttempts: retriesMax },
        DeadLetterConfig: { Arn: deadLettersArn },
      },
    });
    await unless('ConflictException', () => client.send(command));
  },
  disarm: async (schedule, runAt) => {
    const command = new DeleteScheduleCommand({ GroupName: target.group, Name: nameOf(schedule, runAt) });
    await unless('ResourceNotFoundException', () => client.send(command));
  },
});

/** At most 64 letters, digits and `-`. */
const nameOf = (schedule: ScheduleId, runAt: number): string => `${schedule}-${runAt / 1000}`;

/** The scheduler already has it as requested. */
const unless = async (name: string, send: () => Promise<unknown>): Promise<void> => {
  try {
    await send();
  } catch (error) {
    if (!(error instanceof Error && error.name === name)) throw error;
  }
};
