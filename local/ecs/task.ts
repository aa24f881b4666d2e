/** A task as ECS describes it, and the changes of its state; plain data. */
import { randomUUID } from 'node:crypto';
import type { RunTaskCommandInput, Tag } from '@aws-sdk/client-ecs';
import { accountId, region } from '../endpoint/account.ts';
import type { SandboxEnd } from './running-sandbox.ts';

type TaskStatus = 'PROVISIONING' | 'PENDING' | 'RUNNING' | 'STOPPING' | 'DEPROVISIONING' | 'STOPPED';

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
  /** Epoch seconds, as all times of a task. */
  readonly createdAt: number;
  readonly startedAt?: number;
  readonly stoppedAt?: number;
  readonly stopCode?: string;
  readonly stoppedReason?: string;
  /** Returned only for `include: ['TAGS']`. */
  readonly tags: readonly Tag[];
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

/** The family in `family`, `family:revision` or an ARN of either. */
const familyOf = (taskDefinition: string): string =>
  /(?:^|\/)([\w-]+)(?::\d+)?$/.exec(taskDefinition)?.[1] ?? taskDefinition;

/** The template of a family that `familyFor` named; any other is itself. */
export const templateOf = (taskDefinition: string): string =>
  familyOf(taskDefinition).replace(/^sallyport-/, '');

/** The family of the task definition of a template. */
export const familyFor = (template: string): string => `sallyport-${template}`;

export const newTask = (request: RunTaskCommandInput, cluster: string): Task => ({
  taskArn: arn(`task/${cluster}/${randomUUID().replaceAll('-', '')}`),
  clusterArn: arn(`cluster/${cluster}`),
  taskDefinitionArn: arn(`task-definition/${familyOf(request.taskDefinition ?? '')}:1`),
  group: request.group ?? `family:${familyOf(request.taskDefinition ?? '')}`,
  startedBy: request.startedBy,
  launchType: 'FARGATE',
  lastStatus: 'PROVISIONING',
  desiredStatus: 'RUNNING',
  cpu: request.overrides?.cpu,
  memory: request.overrides?.memory,
  version: 1,
  createdAt: seconds(),
  tags: request.tags ?? [],
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

export const withoutTags = ({ tags: _, ...task }: Task): Omit<Task, 'tags'> => task;

/** The answer of StopTask: the desired status has changed and the last status has not. */
export const asStopRequested = (task: Task, stoppedReason: string): Task => ({
  ...task,
  desiredStatus: 'STOPPED',
  version: task.version + 1,
  stopCode: 'UserInitiated',
  stoppedReason,
});

export const asStopping = (task: Task): Task => ({
  ...task,
  lastStatus: 'STOPPING',
  version: task.version + 1,
});

/** A container that never ran has no exit code. */
export const asStopped = (task: Task, end?: SandboxEnd): Task => ({
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
    ...(end === undefined ? {} : { exitCode: end.exitCode }),
    ...(end?.isOutOfMemory ? { reason: 'OutOfMemoryError: Container killed due to memory usage' } : {}),
  })),
});

export const asFailedStart = (task: Task, stoppedReason: string): Task =>
  asStopped({ ...task, stopCode: 'TaskFailedToStart', stoppedReason });

/** Its containers have stopped, and its network is taken back before it is STOPPED (A28). */
export const asDeprovisioning = ({ stoppedAt: _, ...stopped }: Task): Task => ({
  ...stopped,
  lastStatus: 'DEPROVISIONING',
});
