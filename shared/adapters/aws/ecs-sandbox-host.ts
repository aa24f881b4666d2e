/**
 * `SandboxHost` over ECS on Fargate: one task per client token, in subnets without a way out.
 *
 * The same token always sends the same request, so that ECS returns the same task for about a day. Nothing but
 * the size, the bearer's hash and the memory limit is overridden; the rest is the task definition's.
 */
import {
  type ConflictException,
  DescribeTasksCommand,
  type ECSClient,
  ECSServiceException,
  ListTasksCommand,
  RunTaskCommand,
  type RunTaskCommandInput,
  StopTaskCommand,
  type Task,
} from '@aws-sdk/client-ecs';
import { flavors } from '#shared/domain/flavor.ts';
import { serverAddress, taskStopReason } from '#shared/domain/sandbox.ts';
import type { Template } from '#shared/domain/template.ts';
import { AppError } from '#shared/errors.ts';
import type { HostTask, SandboxHost, StartTask } from '#shared/ports/sandbox.ts';

export type EcsPlacement = {
  readonly cluster: string;
  /** `startedBy` of every task of the deployment, by which the janitor finds them. */
  readonly deployment: string;
  readonly taskDefinitions: Readonly<Record<Template, string>>;
  readonly subnets: readonly string[];
  readonly securityGroup: string;
  /** Where it is not that of AWS. */
  readonly port?: number | undefined;
};

type TaskStopper = Pick<SandboxHost, 'stop'>;

/** The container's name in every task definition. */
const containerName = 'sandbox';
/** MiB of the server beside user code; both live under the container's limit. */
const serverMemoryMib = 64;
/** https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_DescribeTasks.html */
const describedTasksMax = 100;
/** StopTask refuses a longer reason (https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_StopTask.html). */
const reasonCharactersMax = 255;

export const makeSandboxHost = (client: ECSClient, placement: EcsPlacement): SandboxHost => ({
  ...makeTaskStopper(client, placement),
  running: () => runningTasks(client, placement),
  describe: (taskArns) => describeTasks(client, placement, taskArns),
  start: async (task) => {
    if (!Object.hasOwn(placement.taskDefinitions, task.template))
      throw new AppError(
        'sandbox_start_failed',
        `the template ${task.template} is no longer in the settings of this deployment`,
      );
    const { tasks, failures } = await client
      .send(new RunTaskCommand(toRequest(task, placement)))
      .catch((cause: unknown) => existingTask(cause) ?? refuseStart(cause));
    const taskArn = tasks?.[0]?.taskArn;
    if (taskArn !== undefined) return taskArn;
    // RunTask answers 200 when it could place nothing.
    throw new AppError('sandbox_unavailable', 'there is no capacity for a sandbox at the moment', {
      context: { failures },
    });
  },
});

const makeTaskStopper = (client: ECSClient, { cluster, port }: EcsPlacement): TaskStopper => ({
  stop: async (taskArn, reason) => {
    try {
      const { task } = await client.send(
        new StopTaskCommand({ cluster, task: taskArn, reason: reason.slice(0, reasonCharactersMax) }),
      );
      return task && hostTask(task, port);
    } catch (cause) {
      if (!isUnknownTask(cause)) throw stopFailure(cause);
      return undefined;
    }
  },
});

async function* runningTasks(
  client: ECSClient,
  placement: EcsPlacement,
): AsyncGenerator<readonly HostTask[]> {
  const { cluster, deployment } = placement;
  let nextToken: string | undefined;
  do {
    const listed: { taskArns?: string[] | undefined; nextToken?: string | undefined } = await client.send(
      new ListTasksCommand({ cluster, startedBy: deployment, maxResults: describedTasksMax, nextToken }),
    );
    if (listed.taskArns?.length) yield await describeTasks(client, placement, listed.taskArns);
    nextToken = listed.nextToken;
  } while (nextToken !== undefined);
}

const describeTasks = async (
  client: ECSClient,
  { cluster, port }: EcsPlacement,
  tasks: readonly string[],
): Promise<readonly HostTask[]> => {
  const known = await client.send(new DescribeTasksCommand({ cluster, tasks: [...tasks] }));
  return (known.tasks ?? []).map((task) => hostTask(task, port));
};

const hostTask = (
  { taskArn, group, lastStatus, createdAt, stoppedReason, containers }: Task,
  port: number | undefined,
): HostTask => {
  const [container] = containers ?? [];
  const ip = container?.networkInterfaces?.[0]?.privateIpv4Address;
  const reason = taskStopReason({ stoppedReason, exitCode: container?.exitCode, reason: container?.reason });
  return {
    taskArn: taskArn ?? '',
    group: group ?? '',
    lastStatus: lastStatus ?? 'STOPPED',
    createdAt: createdAt?.getTime() ?? 0,
    ...(ip === undefined || lastStatus !== 'RUNNING' ? {} : { address: serverAddress(ip, port) }),
    ...(reason === '' ? {} : { stoppedReason: reason }),
  };
};

const toRequest = (task: StartTask, placement: EcsPlacement): RunTaskCommandInput => {
  const size = flavors[task.flavor];
  return {
    cluster: placement.cluster,
    taskDefinition: placement.taskDefinitions[task.template],
    clientToken: task.token,
    group: task.group,
    startedBy: placement.deployment,
    launchType: 'FARGATE',
    count: 1,
    networkConfiguration: {
      awsvpcConfiguration: {
        subnets: [...placement.subnets],
        securityGroups: [placement.securityGroup],
        assignPublicIp: 'DISABLED',
      },
    },
    overrides: {
      cpu: String(size.task.cpuUnits),
      memory: String(size.task.memoryMib),
      containerOverrides: [
        {
          name: containerName,
          memory: size.memoryMb + serverMemoryMib,
          environment: [
            { name: 'SANDBOX_BEARER_SHA256', value: task.bearerHash },
            { name: 'SANDBOX_MEMORY_MB', value: String(size.memoryMb) },
            ...(task.withoutShared ? [{ name: 'SANDBOX_SHARED_PATH', value: 'none' }] : []),
          ],
        },
      ],
    },
  };
};

type Placed = {
  readonly tasks: readonly { readonly taskArn: string | undefined }[];
  readonly failures: undefined;
};

/** The token was used with another request, by a release that sent other bytes: its task is still the one. */
const existingTask = (cause: unknown): Placed | undefined => {
  if (!isNamed(cause, 'ConflictException')) return undefined;
  const { resourceIds = [] } = cause as ConflictException;
  return resourceIds.length === 0
    ? undefined
    : { tasks: resourceIds.map((taskArn) => ({ taskArn })), failures: undefined };
};

const refuseStart = (cause: unknown): never => {
  throw isPassing(cause)
    ? new AppError('sandbox_unavailable', 'there is no capacity for a sandbox at the moment', { cause })
    : new AppError('sandbox_start_failed', 'the sandbox could not be started', { cause });
};

/**
 * Throttling and lack of capacity pass; ECS also reports them in a ClientException or an
 * InvalidParameterException, distinguished by their text only ("You've reached the limit on the number of vCPUs",
 * "Capacity is unavailable", "Request limit exceeded": https://github.com/gchq/sleeper/pull/907,
 * https://github.com/dask/dask-cloudprovider/issues/56). A failure without an answer of ECS is the network's.
 */
const isPassing = (cause: unknown): boolean =>
  !(cause instanceof ECSServiceException) ||
  cause.$fault === 'server' ||
  /^(Throttling|LimitExceeded|RequestLimitExceeded)/.test(cause.name) ||
  /reached the limit|capacity|limit exceeded|rate exceeded/i.test(cause.message);

const stopFailure = (cause: unknown): AppError =>
  new AppError('sandbox_unavailable', 'could not stop a sandbox', { cause });

/** ECS forgets a task about an hour after it stopped, and has no error of its own for that. */
const isUnknownTask = (cause: unknown): boolean =>
  isNamed(cause, 'InvalidParameterException') && /task was not found/i.test((cause as Error).message);

const isNamed = (error: unknown, name: string): boolean => error instanceof Error && error.name === name;
