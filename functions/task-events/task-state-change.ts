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
  readonly stopCode?: string;
  readonly stoppedReason?: string;
  readonly containers?: readonly {
    readonly lastStatus?: string;
    readonly exitCode?: number;
    readonly reason?: string;
    readonly networkInterfaces?: readonly { readonly privateIpv4Address?: string }[];
  }[];
};

/**
 * Ends that were not requested. ECS tells of them twice: while it takes the network back (DEPROVISIONING), and at the end of that. At the
 * first there is no server any more whose files could be saved, and nothing to stop.
 * https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-lifecycle-explanation.html
 */
const ownEnds: readonly unknown[] = ['EssentialContainerExited', 'TaskFailedToStart'];

/** `port`: where sandboxes are reached, if not at that of AWS. Undefined for an event before the one that tells the end. */
export const taskEvent = (change: TaskStateChange, port?: number): TaskEvent | undefined => {
  const { lastStatus, stopCode, containers = [] } = change;
  if (lastStatus === 'STOPPED' || !ownEnds.includes(stopCode)) return eventOf(change, port);
  const hasEnded = containers.length > 0 && containers.every((one) => one.lastStatus === 'STOPPED');
  return hasEnded ? eventOf({ ...change, lastStatus: 'STOPPED' }, port) : undefined;
};

const eventOf = (
  { taskArn, group, lastStatus, desiredStatus = 'RUNNING', stoppedReason, containers = [] }: TaskStateChange,
  port: number | undefined,
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
