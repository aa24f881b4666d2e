/**
 * The part of an ECS "Task State Change" event this platform reads
 * (https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs_task_events.html).
 */
import type { TaskEvent } from '#shared/application/note-task-event.ts';

export type TaskStateChange = {
  readonly taskArn: string;
  readonly group: string;
  readonly startedBy?: string;
  readonly lastStatus: string;
  readonly stoppedReason?: string;
  readonly containers?: readonly {
    readonly exitCode?: number;
    readonly reason?: string;
    readonly networkInterfaces?: readonly { readonly privateIpv4Address?: string }[];
  }[];
};

const sandboxPort = 8080;

export const taskEvent = ({
  taskArn,
  group,
  lastStatus,
  stoppedReason,
  containers = [],
}: TaskStateChange): TaskEvent => {
  const [container] = containers;
  const ip = container?.networkInterfaces?.[0]?.privateIpv4Address;
  const reason = reasonOf(stoppedReason, container);
  return {
    taskArn,
    group,
    lastStatus,
    ...(ip === undefined ? {} : { address: `http://${ip}:${sandboxPort}` }),
    ...(reason === '' ? {} : { stoppedReason: reason }),
  };
};

const reasonOf = (
  stoppedReason: string | undefined,
  container: NonNullable<TaskStateChange['containers']>[number] | undefined,
): string =>
  [
    container?.reason,
    container?.exitCode === undefined ? undefined : `exit code ${container.exitCode}`,
    stoppedReason,
  ]
    .filter((part) => part !== undefined && part !== '')
    .join('; ');
