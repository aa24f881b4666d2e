/** The life of tasks over a sandbox that only says when it was told to end. */
import type { RunTaskCommandInput } from '@aws-sdk/client-ecs';
import { expect, test, vi } from 'vitest';
import { type Faults, openFaultPlan } from './faults.ts';
import type { RunningSandbox, SandboxEnd, SandboxRequest } from './running-sandbox.ts';
import { openTaskRegistry } from './task-registry.ts';

/** A ceiling for a hung test, in milliseconds. */
const patience = { timeout: 50_000 };

const request: RunTaskCommandInput = {
  cluster: 'sallyport',
  taskDefinition: 'sallyport-python',
  clientToken: 'w:1',
  group: 'workspace/w/1',
  startedBy: 'local',
  overrides: {
    cpu: '1024',
    memory: '4096',
    containerOverrides: [{ name: 'sandbox', memory: 576, environment: [{ name: 'A', value: 'b' }] }],
  },
};

type Started = {
  readonly request: SandboxRequest;
  readonly told: string[];
  readonly end: (end: SandboxEnd) => void;
};

const poolPauseMs = 20;

const open = (faults: Faults = {}, start?: () => Promise<void>) => {
  const started: Started[] = [];
  const events: Readonly<Record<string, unknown>>[] = [];
  const startSandbox = async (request: SandboxRequest): Promise<RunningSandbox> => {
    await start?.();
    const { promise, resolve } = Promise.withResolvers<SandboxEnd>();
    const told: string[] = [];
    started.push({ request, told, end: resolve });
    return {
      address: `127.77.0.${started.length}`,
      ended: promise,
      removed: promise.then(() => undefined),
      terminate: (patienceMs) => void told.push(`terminate ${patienceMs}`),
      kill: () => {
        told.push('kill');
        resolve({ exitCode: 137, isOutOfMemory: false });
      },
    };
  };
  const tasks = openTaskRegistry({
    startSandbox,
    onTaskEvent: (detail) => events.push(detail),
    faults: openFaultPlan(faults),
    stopTimeoutMs: 1234,
    poolPauseMs,
  });
  const states = () =>
    events.map(({ version, desiredStatus, lastStatus }) => `${version} ${desiredStatus} ${lastStatus}`);
  return { tasks, started, events, states };
};

const first = async <T>(list: readonly T[]): Promise<T> => {
  await vi.waitUntil(() => list.length > 0, patience);
  const [one] = list;
  if (one === undefined) throw new Error('nothing started');
  return one;
};

test('a request becomes a task and its overrides the request for a sandbox', async () => {
  const { tasks, started, events } = open();
  const task = tasks.run(request);
  expect(task).toEqual({
    taskArn: expect.stringMatching(/^arn:aws:ecs:us-east-1:000000000000:task\/sallyport\/[0-9a-f]{32}$/),
    clusterArn: 'arn:aws:ecs:us-east-1:000000000000:cluster/sallyport',
    taskDefinitionArn: 'arn:aws:ecs:us-east-1:000000000000:task-definition/sallyport-python:1',
    group: 'workspace/w/1',
    startedBy: 'local',
    launchType: 'FARGATE',
    lastStatus: 'PROVISIONING',
    desiredStatus: 'RUNNING',
    cpu: '1024',
    memory: '4096',
    version: 1,
    createdAt: expect.any(Number),
    tags: [],
    containers: [{ name: 'sandbox', lastStatus: 'PENDING', networkInterfaces: [] }],
  });
  expect((await first(started)).request).toEqual({
    id: task?.taskArn.split('/').at(-1),
    template: 'python',
    cpus: 1,
    memoryMb: 576,
    variables: { A: 'b' },
    unreachableMs: 0,
  });
  expect(await first(events)).toMatchObject({
    version: 2,
    lastStatus: 'RUNNING',
    containers: [{ lastStatus: 'RUNNING', networkInterfaces: [{ privateIpv4Address: '127.77.0.1' }] }],
  });
});

test('the same token with the same request is the same task, also when it has stopped', async () => {
  const { tasks, started, states } = open();
  const task = tasks.run(request);
  expect(tasks.run(structuredClone(request))?.taskArn).toBe(task?.taskArn);
  (await first(started)).end({ exitCode: 0, isOutOfMemory: false });
  await vi.waitUntil(() => states().length === 3, patience);
  expect(tasks.run(request)).toMatchObject({ taskArn: task?.taskArn, lastStatus: 'STOPPED' });
  expect(states()).toEqual(['2 RUNNING RUNNING', '3 STOPPED DEPROVISIONING', '4 STOPPED STOPPED']);
  expect(started).toHaveLength(1);
});

test('the same token with another request is a conflict that names the task', () => {
  const { tasks } = open();
  const task = tasks.run(request);
  expect(() => tasks.run({ ...request, group: 'workspace/w/2' })).toThrow(
    expect.objectContaining({
      name: 'ConflictException',
      details: {
        message: 'The client token was used with another request.',
        resourceIds: [task?.taskArn],
      },
    }),
  );
});

test('a stop asks the server to end, and the task has stopped when the server has', async () => {
  const { tasks, started, events, states } = open();
  const arn = tasks.run(request)?.taskArn ?? '';
  const { told, end } = await first(started);
  await first(events);
  expect(tasks.stop(arn, 'idle')).toMatchObject({ desiredStatus: 'STOPPED', lastStatus: 'RUNNING' });
  tasks.stop(arn, 'again');
  expect(told).toEqual(['terminate 1234']);
  end({ exitCode: 0, isOutOfMemory: false });
  await vi.waitUntil(() => states().length === 4, patience);
  expect(states()).toEqual([
    '2 RUNNING RUNNING',
    '3 STOPPED RUNNING',
    '4 STOPPED STOPPING',
    '5 STOPPED STOPPED',
  ]);
  expect(events[3]).toMatchObject({
    stopCode: 'UserInitiated',
    stoppedReason: 'idle',
    containers: [{ lastStatus: 'STOPPED', exitCode: 0 }],
  });
  expect(tasks.stop('unknown', 'x')).toBe(undefined);
});

test('a killed sandbox has stopped with 137, and names memory only as the real cause', async () => {
  const { tasks, started, events } = open();
  tasks.run({ taskDefinition: 'sallyport-python' });
  tasks.run({ taskDefinition: 'sallyport-python' });
  await vi.waitUntil(() => events.length === 2, patience);
  started[0]?.end({ exitCode: 137, isOutOfMemory: false });
  started[1]?.end({ exitCode: 137, isOutOfMemory: true });
  await vi.waitUntil(() => events.length === 4, patience);
  const ends = events.slice(2).map(({ stopCode, stoppedReason, containers }) => ({
    stopCode,
    stoppedReason,
    container: (containers as { exitCode: number; reason?: string }[]).map(({ exitCode, reason }) => [
      exitCode,
      reason,
    ]),
  }));
  const end = { stopCode: 'EssentialContainerExited', stoppedReason: 'Essential container in task exited' };
  expect(ends).toEqual([
    { ...end, container: [[137, undefined]] },
    { ...end, container: [[137, 'OutOfMemoryError: Container killed due to memory usage']] },
  ]);
});

test('a sandbox that cannot start stops its task with the reason and without an exit code', async () => {
  const { tasks, events } = open({}, () => Promise.reject(new Error('no space left')));
  tasks.run(request);
  await vi.waitUntil(() => events.length === 2, patience);
  const end = {
    stopCode: 'TaskFailedToStart',
    stoppedReason: 'CannotStartContainerError: no space left',
    containers: [{ name: 'sandbox', lastStatus: 'STOPPED', networkInterfaces: [] }],
  };
  expect(events).toMatchObject([
    { ...end, lastStatus: 'DEPROVISIONING' },
    { ...end, lastStatus: 'STOPPED' },
  ]);
});

test('a start without capacity stores nothing, so that the same token works later', async () => {
  const { tasks, started } = open({ capacityFailures: 1, capacityFailuresFor: ['2048'] });
  expect(tasks.run(request)).toBe(undefined);
  expect(tasks.all()).toEqual([]);
  expect(tasks.run(request)).toMatchObject({ lastStatus: 'PROVISIONING' });
  expect(tasks.run({ ...request, clientToken: 'w:2', overrides: { cpu: '2048' } })).toBe(undefined);
  await first(started);
  expect(started).toHaveLength(1);
});

test('a task stays provisioning for as long as the faults say', async () => {
  const { tasks, started, states } = open({ provisioningMs: 100, unreachableMs: 70 });
  const begun = performance.now();
  const arn = tasks.run(request)?.taskArn ?? '';
  expect(tasks.find(arn)).toMatchObject({ lastStatus: 'PROVISIONING' });
  expect((await first(started)).request.unreachableMs).toBe(70);
  expect(performance.now() - begun).toBeGreaterThan(95);
  await vi.waitUntil(() => states().length === 1, patience);
});

test('a task that is stopped while it is provisioned never gets a sandbox', async () => {
  const { tasks, started, states, events } = open({ provisioningMs: 60_000 });
  tasks.stop(tasks.run(request)?.taskArn ?? '', 'changed my mind');
  await vi.waitUntil(() => states().length === 3, patience);
  expect(states()).toEqual(['2 STOPPED PROVISIONING', '3 STOPPED STOPPING', '4 STOPPED STOPPED']);
  expect(events[2]).toMatchObject({ stopCode: 'UserInitiated', stoppedReason: 'changed my mind' });
  expect(started).toEqual([]);
});

test('a task that is stopped while its sandbox starts never runs', async () => {
  const gate = Promise.withResolvers<void>();
  const { tasks, started, states } = open({}, () => gate.promise);
  tasks.stop(tasks.run(request)?.taskArn ?? '', 'idle');
  gate.resolve();
  expect((await first(started)).told).toEqual(['kill']);
  await vi.waitUntil(() => states().length === 3, patience);
  expect(states()).toEqual(['2 STOPPED PROVISIONING', '3 STOPPED STOPPING', '4 STOPPED STOPPED']);
});

test('a task that dies while starting has no sandbox and reports why after RunTask has answered', async () => {
  const { tasks, started, events } = open({ diesWhileStarting: 1 });
  expect(tasks.run(request)).toMatchObject({ lastStatus: 'PROVISIONING' });
  expect(events).toEqual([]);
  const end = {
    stopCode: 'TaskFailedToStart',
    stoppedReason: expect.stringMatching(/^CannotPullContainerError: /),
  };
  await vi.waitUntil(() => events.length === 2, patience);
  expect(events).toMatchObject([
    { ...end, lastStatus: 'DEPROVISIONING' },
    { ...end, lastStatus: 'STOPPED' },
  ]);
  expect(started).toEqual([]);
  tasks.run({ ...request, clientToken: 'w:2' });
  await first(started);
});

test('tags are stored with the task and are in no event', async () => {
  const { tasks, events } = open();
  const tags = [{ key: 'k', value: 'v' }];
  expect(tasks.run({ ...request, tags })?.tags).toEqual(tags);
  expect(Object.keys(await first(events))).not.toContain('tags');
});

test('the end of the cloud kills all sandboxes at once, also starting ones, and accepts no more', async () => {
  const gate = Promise.withResolvers<void>();
  let starts = 0;
  const { tasks, started } = open({}, () => {
    starts += 1;
    return starts === 1 ? Promise.resolve() : gate.promise;
  });
  tasks.run(request);
  await first(started);
  tasks.run({ ...request, clientToken: 'w:2' });
  const closed = tasks.close();
  expect(() => tasks.run({ ...request, clientToken: 'w:3' })).toThrow('The cluster is stopping.');
  gate.resolve();
  await closed;
  expect(started.map(({ told }) => told)).toEqual([['kill'], ['kill']]);
  expect(tasks.all().map(({ lastStatus }) => lastStatus)).toEqual(['STOPPED', 'STOPPED']);
});

test('the newest 500 stopped tasks are remembered', async () => {
  const { tasks } = open({ diesWhileStarting: 600 });
  const arns = Array.from({ length: 520 }, (_, index) =>
    tasks.run({ ...request, clientToken: `w:${index}` }),
  ).map((task) => task?.taskArn ?? '');
  await vi.waitUntil(() => tasks.all().length === 500, patience);
  expect(tasks.find(arns[19] ?? '')).toBe(undefined);
  expect(tasks.find(arns[20] ?? '')).toMatchObject({ lastStatus: 'STOPPED' });
});

test('a task of the warm pool lets a task that is waited for start first', async () => {
  const { tasks, started } = open();
  tasks.run({ ...request, clientToken: 'pool-0:1', group: 'workspace/pool-0/1' });
  const waited = tasks.run(request);
  await vi.waitFor(() => expect(started).toHaveLength(2), patience);
  expect(waited?.taskArn.split('/').at(-1)).toBe(started[0]?.request.id);
});
