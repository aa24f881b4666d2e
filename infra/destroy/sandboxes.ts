/**
 * The end of the sandboxes: first no function runs any more, so that nobody starts another, then every task is stopped
 * and waited for. A cluster with a task in it cannot be deleted, and a task that nobody stops is paid for.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Aws } from '../deploy/aws.ts';
import { Failure } from '../deploy/failure.ts';
import type { Inventory } from './inventory.ts';

const waitMsMax = 5 * 60_000;

/** `pollMs`: between two looks at what still runs. */
export type Stopping = { readonly aws: Aws; readonly say: (line: string) => void; readonly pollMs: number };

const gone = ['ResourceNotFoundException', 'ClusterNotFoundException'];

/** Reserved concurrency of nothing is how Lambda is told to run a function no more (https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html). */
export const closeFunctions = async ({ aws, say }: Stopping, { ofType }: Inventory): Promise<void> => {
  const functions = ofType('AWS::Lambda::Function').filter(({ id }) =>
    /Functions\w+Function[0-9A-F]{8}$/.test(id),
  );
  say(`Closing ${functions.length} functions`);
  for (const { physicalId } of functions)
    await aws.find(
      gone,
      'lambda',
      'put-function-concurrency',
      '--function-name',
      physicalId,
      '--reserved-concurrent-executions',
      '0',
    );
};

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
      throw new Failure(`${tasks.length} sandboxes do not stop`, ['Run it again: it goes on where it was.']);
    // Those that were just asked may be gone already.
    if (asked.size === before) await sleep(pollMs);
  }
  say(`${asked.size} sandboxes were running, and none is`);
};

/** Those that are to run and those that are stopping: both keep the cluster. */
const tasksOf = async (aws: Aws, cluster: string): Promise<readonly string[]> => {
  const listed = await aws.find<{ readonly taskArns: readonly string[] }>(
    gone,
    'ecs',
    'list-tasks',
    '--cluster',
    cluster,
  );
  return listed?.taskArns ?? [];
};
