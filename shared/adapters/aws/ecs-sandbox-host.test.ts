/** The ECS host, with the real client against a small ECS that says what it is told to say. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { ECSClient } from '@aws-sdk/client-ecs';
import { afterEach, expect, test } from 'vitest';
import { makeSandboxHost } from './ecs-sandbox-host.ts';

const taskArn = 'arn:aws:ecs:eu-central-1:111122223333:task/sandboxes/0123456789abcdef0123456789abcdef';
const task = {
  token: '6f1d2c3b-0000-4000-8000-000000000001:7',
  group: 'workspace/6f1d2c3b-0000-4000-8000-000000000001/7',
  flavor: 'micro',
  template: 'node',
  bearerHash: 'ab'.repeat(32),
} as const;

const opened: (() => void)[] = [];
afterEach(() => {
  for (const close of opened.splice(0)) close();
});

type Answer = { readonly status?: number; readonly body?: object; readonly hangUp?: boolean };

type Answering = Answer | ((asked: { readonly target: unknown; readonly body: unknown }) => Answer);

const openHost = async (answering: Answering) => {
  const asked: { readonly target: unknown; readonly body: unknown }[] = [];
  const server = createServer(async (request, response) => {
    const one = { target: request.headers['x-amz-target'], body: JSON.parse(await text(request)) };
    asked.push(one);
    const answer = typeof answering === 'function' ? answering(one) : answering;
    if (answer.hangUp) return request.socket.destroy();
    response.writeHead(answer.status ?? 200, { 'content-type': 'application/x-amz-json-1.1' });
    return response.end(JSON.stringify(answer.body ?? {}));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = new ECSClient({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
  });
  opened.push(
    () => server.close(),
    () => client.destroy(),
  );
  const host = makeSandboxHost(client, {
    cluster: 'sandboxes',
    deployment: 'blue',
    taskDefinitions: { python: 'sandbox-python:3', node: 'sandbox-node:5' },
    subnets: ['subnet-a', 'subnet-b'],
    securityGroup: 'sg-sandbox',
  });
  return { host, asked };
};

const refusal = (type: string, message: string, more: object = {}): Answer => ({
  status: 400,
  body: { __type: type, message, ...more },
});

test('a start asks for one Fargate task of the flavor, without a public address', async () => {
  const { host, asked } = await openHost({ body: { tasks: [{ taskArn }], failures: [] } });
  expect(await host.start(task)).toBe(taskArn);
  expect(asked).toEqual([
    {
      target: 'AmazonEC2ContainerServiceV20141113.RunTask',
      body: {
        cluster: 'sandboxes',
        taskDefinition: 'sandbox-node:5',
        clientToken: '6f1d2c3b-0000-4000-8000-000000000001:7',
        group: 'workspace/6f1d2c3b-0000-4000-8000-000000000001/7',
        startedBy: 'blue',
        launchType: 'FARGATE',
        count: 1,
        networkConfiguration: {
          awsvpcConfiguration: {
            subnets: ['subnet-a', 'subnet-b'],
            securityGroups: ['sg-sandbox'],
            assignPublicIp: 'DISABLED',
          },
        },
        overrides: {
          cpu: '512',
          memory: '1024',
          containerOverrides: [
            {
              name: 'sandbox',
              memory: 576,
              environment: [
                { name: 'SANDBOX_BEARER_SHA256', value: 'ab'.repeat(32) },
                { name: 'SANDBOX_MEMORY_MB', value: '512' },
              ],
            },
          ],
        },
      },
    },
  ]);
});

test('every flavor leaves room in its task for the container and its server', async () => {
  const { host, asked } = await openHost({ body: { tasks: [{ taskArn }] } });
  for (const flavor of ['micro', 'small', 'medium', 'large'] as const) await host.start({ ...task, flavor });
  const sizes = asked.map(({ body }) => {
    const { overrides } = body as {
      overrides: { cpu: string; memory: string; containerOverrides: [{ memory: number }] };
    };
    return [overrides.cpu, overrides.memory, overrides.containerOverrides[0].memory];
  });
  expect(sizes).toEqual([
    ['512', '1024', 576],
    ['1024', '2048', 1088],
    ['2048', '4096', 2112],
    ['4096', '8192', 4160],
  ]);
});

test('a token that was used with another request returns the task that it started', async () => {
  const { host } = await openHost(
    refusal('ConflictException', 'the client token was used with other parameters', {
      resourceIds: [taskArn],
    }),
  );
  expect(await host.start(task)).toBe(taskArn);
});

test('a task that could not be placed is a lack of capacity, although ECS answers 200', async () => {
  const { host } = await openHost({ body: { tasks: [], failures: [{ reason: 'RESOURCE:MEMORY' }] } });
  await expect(host.start(task)).rejects.toMatchObject({
    code: 'sandbox_unavailable',
    message: 'there is no capacity for a sandbox at the moment',
    details: { context: { failures: [{ reason: 'RESOURCE:MEMORY' }] } },
  });
});

test.each([
  refusal('ThrottlingException', 'Rate exceeded'),
  refusal('ClientException', "You've reached the limit on the number of vCPUs you can run concurrently"),
  refusal('ClientException', 'Capacity is unavailable at this time. Please try again later'),
  refusal(
    'InvalidParameterException',
    'Error retrieving security group information: Request limit exceeded. (ErrorCode: RequestLimitExceeded)',
  ),
  { status: 500, body: { __type: 'ServerException', message: 'internal' } },
  { hangUp: true },
])('a transient error is a lack of capacity: %j', async (answer: Answer) => {
  const { host } = await openHost(answer);
  await expect(host.start(task)).rejects.toMatchObject({ name: 'AppError', code: 'sandbox_unavailable' });
});

test.each([
  refusal('ClientException', `Unable to describe task definition ${taskArn}`),
  refusal('InvalidParameterException', 'No Fargate configuration exists for given values'),
  refusal('AccessDeniedException', `User: ${taskArn} is not authorized to perform: ecs:RunTask`),
  refusal('ClusterNotFoundException', 'Cluster not found.'),
  refusal('ConflictException', 'a conflict that names no task'),
])('a refusal is a failed start, and its message is not shown: %j', async (answer) => {
  const { host } = await openHost(answer);
  await expect(host.start(task)).rejects.toMatchObject({
    name: 'AppError',
    code: 'sandbox_start_failed',
    message: 'the sandbox could not be started',
  });
});

test('a stop names task and reason, in at most 255 characters', async () => {
  const { host, asked } = await openHost({ body: { task: { taskArn } } });
  await host.stop(taskArn, 'x'.repeat(300));
  expect(asked).toEqual([
    {
      target: 'AmazonEC2ContainerServiceV20141113.StopTask',
      body: { cluster: 'sandboxes', task: taskArn, reason: 'x'.repeat(255) },
    },
  ]);
});

test('a stop tells of a task that has stopped already', async () => {
  const task = { taskArn, group: 'workspace/a/1', lastStatus: 'STOPPED', stoppedReason: 'Spot interruption' };
  const { host } = await openHost({ body: { task } });
  expect(await host.stop(taskArn, 'idle')).toMatchObject({ lastStatus: 'STOPPED', taskArn });
});

test('a task that ECS does not know is stopped', async () => {
  const { host } = await openHost(refusal('InvalidParameterException', 'The referenced task was not found.'));
  expect(await host.stop(taskArn, 'idle')).toBeUndefined();
});

test.each([
  refusal('InvalidParameterException', 'Task Identifier is invalid'),
  refusal('ThrottlingException', 'Rate exceeded'),
  refusal('ClusterNotFoundException', 'Cluster not found.'),
])('a stop that was not accepted fails: %j', async (answer) => {
  const { host } = await openHost(answer);
  await expect(host.stop(taskArn, 'idle')).rejects.toMatchObject({ code: 'sandbox_unavailable' });
});

test('a task is described with its address while it runs, and with its reason once it stopped', async () => {
  const containers = [{ networkInterfaces: [{ privateIpv4Address: '10.0.0.7' }] }];
  const { host } = await openHost({
    body: {
      tasks: [
        { taskArn: 'one', group: 'workspace/a/1', lastStatus: 'PROVISIONING', createdAt: 1_700_000_000 },
        {
          taskArn: 'two',
          group: 'workspace/b/2',
          lastStatus: 'RUNNING',
          createdAt: 1_700_000_001,
          containers,
        },
        {
          taskArn: 'three',
          group: 'workspace/c/3',
          lastStatus: 'STOPPED',
          createdAt: 1_700_000_002,
          stoppedReason: 'Task stopped by user',
          containers,
        },
      ],
      failures: [],
    },
  });
  expect(await host.describe(['one', 'two', 'three'])).toEqual([
    { taskArn: 'one', group: 'workspace/a/1', lastStatus: 'PROVISIONING', createdAt: 1_700_000_000_000 },
    {
      taskArn: 'two',
      group: 'workspace/b/2',
      lastStatus: 'RUNNING',
      createdAt: 1_700_000_001_000,
      address: 'http://10.0.0.7:8080',
    },
    {
      taskArn: 'three',
      group: 'workspace/c/3',
      lastStatus: 'STOPPED',
      createdAt: 1_700_000_002_000,
      stoppedReason: 'Task stopped by user',
    },
  ]);
});

const describedTask = {
  taskArn,
  group: task.group,
  lastStatus: 'RUNNING',
  createdAt: 1_767_225_600.5,
  containers: [{ name: 'sandbox', networkInterfaces: [{ privateIpv4Address: '10.0.0.7' }] }],
};
const hostTask = {
  taskArn,
  group: 'workspace/6f1d2c3b-0000-4000-8000-000000000001/7',
  lastStatus: 'RUNNING',
  address: 'http://10.0.0.7:8080',
  createdAt: 1_767_225_600_500,
};

test('tasks are described with the platform’s own request', async () => {
  const { host, asked } = await openHost({ body: { tasks: [describedTask], failures: [] } });
  expect(await host.describe([taskArn])).toEqual([hostTask]);
  expect(asked).toEqual([
    {
      target: 'AmazonEC2ContainerServiceV20141113.DescribeTasks',
      body: { cluster: 'sandboxes', tasks: [taskArn] },
    },
  ]);
});

test.each<[string, object, object]>([
  [
    'that starts has no address yet, though it has one in its network',
    { ...describedTask, lastStatus: 'PENDING' },
    { ...hostTask, lastStatus: 'PENDING', address: undefined },
  ],
  [
    'that stopped says why in one line, and has no address',
    {
      ...describedTask,
      lastStatus: 'STOPPED',
      stoppedReason: 'Essential container in task exited',
      containers: [{ ...describedTask.containers[0], exitCode: 137, reason: 'OutOfMemoryError' }],
    },
    {
      ...hostTask,
      lastStatus: 'STOPPED',
      address: undefined,
      stoppedReason: 'OutOfMemoryError; exit code 137; Essential container in task exited',
    },
  ],
  [
    'of which ECS says next to nothing is a stopped one',
    {},
    { taskArn: '', group: '', lastStatus: 'STOPPED', createdAt: 0 },
  ],
])('a task %s', async (_what, described, expected) => {
  const { host } = await openHost({ body: { tasks: [described] } });
  expect(await host.describe([taskArn])).toEqual([JSON.parse(JSON.stringify(expected))]);
});

test('a task that ECS has deleted is not described', async () => {
  const { host } = await openHost({ body: { failures: [{ arn: taskArn, reason: 'MISSING' }] } });
  expect(await host.describe([taskArn])).toEqual([]);
});

test('the tasks of the deployment are listed page by page, and an empty page is empty', async () => {
  const pages: Record<string, object> = {
    '': { taskArns: ['a', 'b'], nextToken: 'second' },
    second: { taskArns: [], nextToken: 'third' },
    third: { taskArns: ['c'] },
  };
  const { host, asked } = await openHost(({ target, body }) => {
    const { nextToken = '', tasks = [] } = body as { nextToken?: string; tasks?: readonly string[] };
    if (String(target).endsWith('.ListTasks')) return { body: pages[nextToken] ?? {} };
    return { body: { tasks: tasks.map((arn) => ({ ...describedTask, taskArn: arn })) } };
  });
  const listed: (readonly string[])[] = [];
  for await (const page of host.running()) listed.push(page.map((one) => one.taskArn));
  expect(listed).toEqual([['a', 'b'], ['c']]);
  const list = { cluster: 'sandboxes', startedBy: 'blue', maxResults: 100 };
  expect(asked.filter(({ target }) => String(target).endsWith('.ListTasks')).map(({ body }) => body)).toEqual(
    [list, { ...list, nextToken: 'second' }, { ...list, nextToken: 'third' }],
  );
});

test('a deployment without tasks lists none', async () => {
  const { host, asked } = await openHost({ body: { taskArns: [] } });
  const listed: unknown[] = [];
  for await (const page of host.running()) listed.push(page);
  expect([listed, asked.length]).toEqual([[], 1]);
});
