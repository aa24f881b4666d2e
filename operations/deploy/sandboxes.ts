/**
 * The end of the sandboxes: functions are closed first, so that none starts another sandbox, then every task is stopped
 * and awaited. A cluster with a task cannot be deleted, and a running task is billed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Settings } from '../../infra/settings.ts';
import type { Aws } from './aws.ts';
import type { Inventory } from './inventory.ts';
import { Failure } from './programs.ts';

const waitMsMax = 5 * 60_000;

/** `pollMs`: the pause between two reads of the running tasks. */
type Stopping = { readonly aws: Aws; readonly say: (line: string) => void; readonly pollMs: number };

const notFound = ['ResourceNotFoundException', 'ClusterNotFoundException'];

type PlatformFunction = {
  /** That of its row in `infra/constructs/platform-functions.ts`, without hyphens, as logical ids have it. */
  readonly name: string;
  readonly physicalId: string;
};

/** By their logical ids: CloudFormation names most of them itself. */
const platformFunctions = ({ ofType }: Inventory): readonly PlatformFunction[] =>
  ofType('AWS::Lambda::Function').flatMap(({ id, physicalId }) => {
    const name = /Functions(\w+)Function[0-9A-F]{8}$/.exec(id)?.[1];
    return name === undefined ? [] : [{ name, physicalId }];
  });

/** A reserved concurrency of 0 stops all invocations of a function (https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html). */
export const closeFunctions = async (
  { aws, say }: Pick<Stopping, 'aws' | 'say'>,
  inventory: Inventory,
): Promise<void> => {
  const functions = platformFunctions(inventory);
  say(`Closing ${functions.length} functions`);
  for (const { physicalId } of functions) await reserve(aws, physicalId, 0);
};

/** As they are deployed: with the concurrency that the settings reserve for a function, or without any. */
export const openFunctions = async (
  { aws, say }: Pick<Stopping, 'aws' | 'say'>,
  { reservedConcurrency }: Pick<Settings, 'reservedConcurrency'>,
  inventory: Inventory,
): Promise<void> => {
  const functions = platformFunctions(inventory);
  const reserved = new Map(
    Object.entries(reservedConcurrency).map(([name, count]) => [name.replaceAll('-', ''), count]),
  );
  for (const { name, physicalId } of functions) {
    const count = reserved.get(name);
    if (count === undefined)
      await aws.find(notFound, 'lambda', 'delete-function-concurrency', '--function-name', physicalId);
    else await reserve(aws, physicalId, count);
  }
  say(`Opened ${functions.length} functions`);
};

const reserve = (aws: Aws, name: string, count: number): Promise<unknown> =>
  aws.find(
    notFound,
    'lambda',
    'put-function-concurrency',
    '--function-name',
    name,
    '--reserved-concurrent-executions',
    String(count),
  );

export const stopSandboxes = async (stopping: Stopping, { ofType }: Inventory): Promise<void> => {
  for (const { physicalId: cluster } of ofType('AWS::ECS::Cluster')) await emptyCluster(stopping, cluster);
};

const emptyCluster = async ({ aws, say, pollMs }: Stopping, cluster: string): Promise<void> => {
  const until = Date.now() + waitMsMax;
  const asked = new Set<string>();
  for (;;) {
    const before = asked.size;
    const tasks = await tasksOf(aws, cluster);
    if (tasks.length === 0) break;
    for (const task of tasks.filter((one) => !asked.has(one))) {
      await aws.find(
        ['InvalidParameterException'],
        'ecs',
        'stop-task',
        '--cluster',
        cluster,
        '--task',
        task,
        '--reason',
        'the deployment is destroyed',
      );
      asked.add(task);
    }
    if (Date.now() > until)
      throw new Failure(`${tasks.length} sandboxes do not stop`, [
        'Run it again: it continues where it stopped.',
      ]);
    // Tasks that were just stopped may have ended already.
    if (asked.size === before) await sleep(pollMs);
  }
  say(`Stopped ${asked.size} sandboxes`);
};

/** Upgrades keep the revisions that functions with older code start; a destroyed deployment needs none. */
export const deregisterDefinitions = async ({ aws, say }: Stopping, { ofType }: Inventory): Promise<void> => {
  const families = ofType('AWS::ECS::TaskDefinition').flatMap(
    ({ physicalId }) => /task-definition\/([^:]+):/.exec(physicalId)?.[1] ?? [],
  );
  let count = 0;
  for (const family of new Set(families)) {
    const args = ['list-task-definitions', '--family-prefix', family, '--status', 'ACTIVE'] as const;
    const listed = await aws.ask<{ readonly taskDefinitionArns: readonly string[] }>('ecs', ...args);
    for (const revision of listed.taskDefinitionArns) {
      await aws.ask('ecs', 'deregister-task-definition', '--task-definition', revision);
      count += 1;
    }
  }
  say(`Deregistered ${count} older revisions of task definitions`);
};

/** Running and stopping tasks: both block the deletion of the cluster. */
const tasksOf = async (aws: Aws, cluster: string): Promise<readonly string[]> => {
  const listed = await aws.find<{ readonly taskArns: readonly string[] }>(
    notFound,
    'ecs',
    'list-tasks',
    '--cluster',
    cluster,
  );
  return listed?.taskArns ?? [];
};
