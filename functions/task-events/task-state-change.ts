/**
 * The part of an ECS "Task State Change" event this platform reads
 * (https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs_task_events.html).
 */
import type { TaskEvent } from '#shared/application/sandbox/record-task-event.ts';
import { serverAddress, taskStopReason } from '#shared/domain/sandbox.ts';

export type TaskStateChange = {
  readonly taskArn: string;
  readonly group: string;
  readonly startedBy?: string;
  readonly lastStatus: string;
  readonly desiredStatus?: string;
  readonly stoppedReason?: string;
  readonly containers?: readonly {
    readonly exitCode?: number;
    readonly reason?: string;
    readonly networkInterfaces?: readonly { readonly privateIpv4Address?: string }[];
  }[];
};

/** `port`: where sandboxes are reached, if not at that of AWS. */
export const taskEvent = (
  { taskArn, group, lastStatus, desiredStatus = 'RUNNING', stoppedReason, containers = [] }: TaskStateChange,
  port?: number,
): TaskEvent => {
  const [container] = containers;
  const ip = container?.networkInterfaces?.[0]?.privateIpv4Address;
  const { exitCode, reason: why } = container ?? {};
  const reason = taskStopReason({ reason: why, exitCode, stoppedReason });
  return {
    taskArn,
    group,
    lastStatus,
    desiredStatus,
    ...(ip === undefined ? {} : { address: serverAddress(ip, port) }),
    ...(reason === '' ? {} : { stoppedReason: reason }),
  };
};
