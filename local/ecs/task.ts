/** A task as ECS describes it, and the changes of its state; plain data. */
import { randomUUID } from 'node:crypto';
import type { RunTaskCommandInput } from '@aws-sdk/client-ecs';
import { accountId, region } from '../lambda/function-definition.ts';

export type TaskStatus = 'PROVISIONING' | 'PENDING' | 'RUNNING' | 'STOPPING' | 'STOPPED';

export type Task = {
  readonly taskArn: string;
  readonly clusterArn: string;
  readonly taskDefinitionArn: string;
  readonly group?: string | undefined;
  readonly startedBy?: string | undefined;
  readonly launchType: 'FARGATE';
  readonly lastStatus: TaskStatus;
  readonly desiredStatus: 'RUNNING' | 'STOPPED';
  readonly cpu?: string | undefined;
  readonly memory?: string | undefined;
  readonly version: number;
  /** Epoch seconds, as every time here. */
  readonly createdAt: number;
  readonly startedAt?: number;
  readonly stoppedAt?: number;
  readonly stopCode?: string;
  readonly stoppedReason?: string;
  readonly containers: readonly {
    readonly name: string;
    readonly lastStatus: TaskStatus;
    readonly exitCode?: number;
    readonly reason?: string;
    readonly networkInterfaces: readonly { readonly privateIpv4Address: string }[];
  }[];
};

const seconds = (): number => Date.now() / 1000;

const arn = (rest: string): string => `arn:aws:ecs:${region}:${accountId}:${rest}`;

export const newTask = (request: RunTaskCommandInput, cluster: string): Task => ({
  taskArn: arn(`task/${cluster}/${randomUUID().replaceAll('-', '')}`),
  clusterArn: arn(`cluster/${cluster}`),
  taskDefinitionArn: arn(`task-definition/${request.taskDefinition}:1`),
  group: request.group ?? `family:${request.taskDefinition}`,
  startedBy: request.startedBy,
  launchType: 'FARGATE',
  lastStatus: 'PROVISIONING',
  desiredStatus: 'RUNNING',
  cpu: request.overrides?.cpu,
  memory: request.overrides?.memory,
  version: 1,
  createdAt: seconds(),
  containers: [{ name: 'sandbox', lastStatus: 'PENDING', networkInterfaces: [] }],
});

export const taskId = ({ taskArn }: Task): string => taskArn.split('/').at(-1) ?? taskArn;

export const asRunning = (task: Task, privateIpv4Address: string): Task => ({
  ...task,
  lastStatus: 'RUNNING',
  version: task.version + 1,
  startedAt: seconds(),
  containers: task.containers.map((container) => ({
    ...container,
    lastStatus: 'RUNNING',
    networkInterfaces: [{ privateIpv4Address }],
  })),
});

export const asStopping = (task: Task, stoppedReason: string): Task => ({
  ...task,
  desiredStatus: 'STOPPED',
  lastStatus: 'STOPPING',
  version: task.version + 1,
  stopCode: 'UserInitiated',
  stoppedReason,
});

export const asStopped = (
  task: Task,
  { exitCode, isOutOfMemory }: { readonly exitCode: number | null; readonly isOutOfMemory: boolean },
): Task => ({
  ...task,
  desiredStatus: 'STOPPED',
  lastStatus: 'STOPPED',
  version: task.version + 1,
  stoppedAt: seconds(),
  stopCode: task.stopCode ?? 'EssentialContainerExited',
  stoppedReason: task.stoppedReason ?? 'Essential container in task exited',
  containers: task.containers.map((container) => ({
    ...container,
    lastStatus: 'STOPPED',
    exitCode: exitCode ?? 137,
    ...(isOutOfMemory ? { reason: 'OutOfMemoryError: Container killed due to memory usage' } : {}),
  })),
});
