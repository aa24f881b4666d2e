/** Answers of the four operations over a registry whose sandboxes never end. */
import { expect, test } from 'vitest';
import { type Faults, openFaultPlan } from './faults.ts';
import { type Cluster, operations } from './operations.ts';
import type { Task } from './task.ts';
import { openTaskRegistry } from './task-registry.ts';

const open = (initial: Faults = {}): Cluster => {
  const faults = openFaultPlan(initial);
  const pending = new Promise<never>(() => undefined);
  const startSandbox = async () => ({
    address: '127.77.0.1',
    ended: pending,
    removed: pending,
    terminate: () => undefined,
    kill: () => undefined,
  });
  const tasks = openTaskRegistry({ startSandbox, onTaskEvent: () => undefined, faults, stopTimeoutMs: 1000 });
  return { tasks, faults };
};

type Answer = {
  readonly tasks: readonly Task[];
  readonly task?: Task;
  readonly failures: readonly { readonly arn?: string; readonly reason: string }[];
  readonly taskArns: readonly string[];
  readonly nextToken?: string;
};

const ask = (cluster: Cluster, name: string, input: object): Answer =>
  operations[name]?.(cluster, input as never) as Answer;

const python = { taskDefinition: 'sallyport-python' };

const run = (cluster: Cluster, input: object = {}): string =>
  ask(cluster, 'RunTask', { ...python, ...input }).tasks[0]?.taskArn ?? '';

test.each([
  ['sallyport-node'],
  ['sallyport-node:7'],
  ['arn:aws:ecs:us-east-1:000000000000:task-definition/sallyport-node:7'],
])('a task definition can be named as %s', (taskDefinition) => {
  const { tasks, failures } = ask(open(), 'RunTask', { taskDefinition });
  expect(tasks.map(({ group, taskDefinitionArn }) => [group, taskDefinitionArn])).toEqual([
    ['family:sallyport-node', 'arn:aws:ecs:us-east-1:000000000000:task-definition/sallyport-node:1'],
  ]);
  expect(failures).toEqual([]);
});

test('an unknown task definition is refused', () => {
  expect(() => run(open(), { taskDefinition: 'other' })).toThrow(
    expect.objectContaining({ status: 400, name: 'ClientException' }),
  );
});

test('missing capacity is a 200 with a failure and no task', () => {
  const cluster = open({ capacityFailures: 1 });
  expect(ask(cluster, 'RunTask', python)).toEqual({
    tasks: [],
    failures: [
      {
        reason:
          'Capacity is unavailable at this time. Please try again later or in a different availability zone',
      },
    ],
  });
  expect(ask(cluster, 'RunTask', python).tasks).toHaveLength(1);
});

test('a throttled RunTask is refused and starts nothing', () => {
  const cluster = open({ throttles: 1 });
  expect(() => run(cluster)).toThrow(
    expect.objectContaining({ status: 400, name: 'ThrottlingException', message: 'Rate exceeded' }),
  );
  expect(cluster.tasks.all()).toEqual([]);
  expect(run(cluster)).toContain('task/default/');
});

test('a StopTask that fails leaves the task as it was', () => {
  const cluster = open({ stopFailures: 1 });
  const task = run(cluster);
  expect(() => ask(cluster, 'StopTask', { task })).toThrow(
    expect.objectContaining({ status: 500, name: 'ServerException' }),
  );
  expect(cluster.tasks.find(task)?.desiredStatus).toBe('RUNNING');
  expect(ask(cluster, 'StopTask', { task }).task).toMatchObject({
    desiredStatus: 'STOPPED',
    stoppedReason: 'Task stopped by user',
  });
});

test('stopping an unknown task is refused with the message of ECS', () => {
  expect(() => ask(open(), 'StopTask', { task: 'none' })).toThrow(
    expect.objectContaining({
      status: 400,
      name: 'InvalidParameterException',
      message: 'The referenced task was not found.',
    }),
  );
});

test('a list contains tasks of one startedBy', () => {
  const cluster = open();
  const mine = run(cluster, { startedBy: 'mine' });
  const stopped = run(cluster, { startedBy: 'mine' });
  const theirs = run(cluster, { startedBy: 'theirs' });
  ask(cluster, 'StopTask', { task: stopped });
  const list = (input: object) => ask(cluster, 'ListTasks', input);
  expect(list({ startedBy: 'mine' })).toEqual({ taskArns: [mine] });
  expect(list({ startedBy: 'mine', desiredStatus: 'STOPPED' })).toEqual({ taskArns: [stopped] });
  expect(list({})).toEqual({ taskArns: [mine, theirs] });
});

test('a list comes in pages', () => {
  const cluster = open();
  const all = Array.from({ length: 103 }, () => run(cluster));
  const first = ask(cluster, 'ListTasks', {});
  expect(first.taskArns).toEqual(all.slice(0, 100));
  expect(ask(cluster, 'ListTasks', { nextToken: first.nextToken })).toEqual({ taskArns: all.slice(100) });
  expect(ask(cluster, 'ListTasks', { maxResults: 2 }).taskArns).toEqual(all.slice(0, 2));
  expect(() => ask(cluster, 'ListTasks', { nextToken: '-1' })).toThrow('Invalid token.');
});

test('a description lists missing tasks, and tags only on request', () => {
  const cluster = open();
  const tags = [{ key: 'team', value: 'red' }];
  const arn = run(cluster, { tags });
  const plain = ask(cluster, 'DescribeTasks', { tasks: [arn, 'none'] });
  expect(plain.tasks.map(({ taskArn, tags: shown }) => [taskArn, shown])).toEqual([[arn, undefined]]);
  expect(plain.failures).toEqual([{ arn: 'none', reason: 'MISSING' }]);
  const tagged = ask(cluster, 'DescribeTasks', { tasks: [arn], include: ['TAGS'] });
  expect(tagged.tasks.map((task) => task.tags)).toEqual([[{ key: 'team', value: 'red' }]]);
  expect(() => ask(cluster, 'DescribeTasks', { tasks: Array(101).fill(arn) })).toThrow(
    'Tasks can have at most 100 elements.',
  );
});
