/** The ECS endpoint with real sandboxes, through the real SDK: how tasks start, stop, die and share a folder. */

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, stat, writeFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DescribeTasksCommand,
  ECSClient,
  ListTasksCommand,
  RunTaskCommand,
  type RunTaskCommandInput,
  StopTaskCommand,
} from '@aws-sdk/client-ecs';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { askOverMcp } from '#shared/adapters/mcp/sandbox-over-mcp.ts';
import { makeSandboxCalls } from '#shared/adapters/sandbox/sandbox-calls.ts';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import { serverAddress } from '#shared/domain/sandbox.ts';
import { type EcsEndpoint, start } from '../../local/ecs/start.ts';
import { sandboxProcesses, serverOf, wallOf } from '../e2e/sandbox-processes.ts';
import { sendSigned } from '../signed-request.ts';

const isRoot = process.getuid?.() === 0;
const bearer = 'b'.repeat(64);
const bearerHash = createHash('sha256').update(bearer).digest('hex');

type TaskDetail = {
  readonly taskArn: string;
  readonly lastStatus: string;
  readonly desiredStatus: string;
  readonly version: number;
  readonly stopCode?: string;
  readonly stoppedReason?: string;
  readonly containers: readonly {
    readonly exitCode?: number;
    readonly reason?: string;
    readonly networkInterfaces: readonly { readonly privateIpv4Address: string }[];
  }[];
};

let ecs: EcsEndpoint;
let client: ECSClient;
let home = '';
let shared = '';
const events: (TaskDetail & { readonly seenAt: number })[] = [];

/** A server on a busy machine needs a while to end by itself. */
const stopTimeoutMs = 8000;

beforeAll(async () => {
  // Sandboxes are users of their own, so the folders above must let them through.
  shared = join(await openFolder(), 'shared');
  await mkdir(shared, { mode: 0o700 });
  home = await makeHome();
  ecs = await start({
    home,
    onTaskEvent: (detail) => events.push({ ...(detail as TaskDetail), seenAt: performance.now() }),
    sharedVolume: { hostPath: shared, guestPath: '/shared' },
    stopTimeoutMs,
  });
  const { credentials } = ecs;
  client = new ECSClient({ endpoint: ecs.url, region: 'us-east-1', credentials, maxAttempts: 1 });
});
afterAll(() => ecs.stop());
beforeEach(() => setFaults({}));

const makeHome = (): Promise<string> => mkdtemp(join(tmpdir(), 'sallyport-ecs-'));

const openFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-shared-'));
  await chmod(folder, 0o755);
  return folder;
};

const postFaults = (body: string, type = 'application/json') =>
  sendSigned(
    { url: `${ecs.url}/faults`, service: 'ecs', headers: { 'content-type': type }, body },
    ecs.credentials,
  );

const setFaults = async (faults: object): Promise<void> => {
  expect((await postFaults(JSON.stringify(faults))).status).toBe(204);
};

const request = (more: Partial<RunTaskCommandInput> = {}): RunTaskCommandInput => ({
  cluster: 'sallyport',
  taskDefinition: 'sallyport-python',
  startedBy: 'test',
  overrides: {
    cpu: '512',
    memory: '1024',
    containerOverrides: [
      {
        name: 'sandbox',
        memory: 384,
        environment: [
          { name: 'SANDBOX_BEARER_SHA256', value: bearerHash },
          { name: 'SANDBOX_MEMORY_MB', value: '256' },
        ],
      },
    ],
  },
  ...more,
});

const run = async (more: Partial<RunTaskCommandInput> = {}): Promise<string> => {
  const { tasks } = await client.send(new RunTaskCommand(request(more)));
  return tasks?.[0]?.taskArn ?? '';
};

const event = async (arn: string, lastStatus: string) =>
  vi.waitFor(
    () => {
      const found = events.find((one) => one.taskArn === arn && one.lastStatus === lastStatus);
      if (found === undefined) throw new Error(`${arn} has not been ${lastStatus}`);
      return found;
    },
    { timeout: 50_000, interval: 10 },
  );

const addressOf = async (arn: string): Promise<string> => {
  const { containers } = await event(arn, 'RUNNING');
  return serverAddress(containers[0]?.networkInterfaces[0]?.privateIpv4Address ?? '', ecs.sandboxPort);
};

const reach = (address: string, path = '/health') =>
  fetch(`${address}${path}`, { headers: { authorization: `Bearer ${bearer}` } });

const isHealthy = async (address: string): Promise<boolean> => {
  try {
    return (await reach(address)).status === 200;
  } catch {
    return false;
  }
};

const untilHealthy = async (arn: string): Promise<string> => {
  const address = await addressOf(arn);
  await vi.waitUntil(() => isHealthy(address), { timeout: 50_000, interval: 20 });
  return address;
};

const runHealthy = async (): Promise<{ readonly arn: string; readonly address: string }> => {
  const arn = await run();
  return { arn, address: await untilHealthy(arn) };
};

/** Output of a bash line in a sandbox. */
const bash = async (address: string, command: string): Promise<string> => {
  const tools = makeSandboxCalls(
    {
      fetch: (_, { method, path, headers = {}, body, signal }) =>
        fetch(`${address}${path}`, {
          method,
          headers: { ...headers, authorization: `Bearer ${bearer}` },
          ...(body === undefined ? {} : { body }),
          ...(signal === undefined ? {} : { signal }),
        }),
    },
    askOverMcp,
  );
  const outcome = await tools.call({
    sandbox: { workspaceId: 'w' as WorkspaceId, generation: 1, address, flavor: 'micro' },
    callKey: crypto.randomUUID(),
    name: 'execute_command',
    args: { command, timeout: 30 },
    onProgress: () => undefined,
  });
  return outcome.status === 'finished'
    ? outcome.content.map((block) => String(block['text'])).join('')
    : `${outcome.status}: ${outcome.message}`;
};

const stop = (task: string, reason = 'idle') =>
  client.send(new StopTaskCommand({ cluster: 'sallyport', task, reason }));

/** The server of a sandbox and the wall around it, seen from the host. */
const processesOf = (arn: string): { readonly wall: number; readonly server: number } => {
  const server = serverOf(home, arn);
  if (server === undefined) throw new Error(`no server of ${arn} runs`);
  return { wall: wallOf(server).pid, server: server.pid };
};

/** The tasks of which processes run. */
const tasksOf = (folder: string): ReadonlySet<string> =>
  new Set(sandboxProcesses(folder).map(({ taskId }) => taskId));

/** The last of them ends a moment after its sandbox. */
const expectNoProcess = (folder: string): Promise<void> =>
  vi.waitFor(() => expect(sandboxProcesses(folder)).toEqual([]), { timeout: 50_000 });

const stopAll = async (): Promise<void> => {
  const { taskArns = [] } = await client.send(new ListTasksCommand({ cluster: 'sallyport' }));
  for (const arn of taskArns) await stop(arn);
  for (const arn of taskArns) await event(arn, 'STOPPED');
};

test('a stopped task gets SIGTERM, its server ends by itself, and the states come in order', async () => {
  const { arn } = await runHealthy();
  const { task } = await stop(arn);
  expect(task).toMatchObject({ desiredStatus: 'STOPPED', lastStatus: 'RUNNING', stopCode: 'UserInitiated' });
  const stopped = await event(arn, 'STOPPED');
  expect(stopped).toMatchObject({ stopCode: 'UserInitiated', stoppedReason: 'idle' });
  expect(stopped.containers.map(({ exitCode, reason }) => [exitCode, reason])).toEqual([[0, undefined]]);
  const states = events
    .filter(({ taskArn }) => taskArn === arn)
    .map(({ version, desiredStatus, lastStatus }) => `${version} ${desiredStatus} ${lastStatus}`);
  expect(states).toEqual([
    '2 RUNNING RUNNING',
    '3 STOPPED RUNNING',
    '4 STOPPED STOPPING',
    '5 STOPPED STOPPED',
  ]);
  const { tasks } = await client.send(new DescribeTasksCommand({ cluster: 'sallyport', tasks: [arn] }));
  expect(tasks?.[0]).toMatchObject({ lastStatus: 'STOPPED', stoppedAt: expect.any(Date) });
});

test('a server that does not end in time is killed', async () => {
  const { arn } = await runHealthy();
  process.kill(processesOf(arn).server, 'SIGSTOP');
  const before = performance.now();
  await stop(arn);
  const { seenAt, containers, stopCode } = await event(arn, 'STOPPED');
  expect(stopCode).toBe('UserInitiated');
  expect(containers[0]?.exitCode).toBe(137);
  expect(seenAt - before).toBeGreaterThan(stopTimeoutMs - 50);
});

/** Far less than anything would take that looks now and then, and plenty for a busy machine. */
const soonMs = 30_000;

test.each(['wall', 'server'] as const)(
  'a sandbox whose %s is killed has stopped soon after',
  async (which) => {
    const { arn, address } = await runHealthy();
    expect(await bash(address, 'python3 -c "x = bytearray(600 << 20)"')).toContain('failed');
    // Two samples of the counter later, each within one of these, that kill explains no end any more (`local/ecs/cgroup.ts`).
    for (const sampleMs of [600, 600]) await new Promise((resolve) => setTimeout(resolve, sampleMs));
    process.kill(processesOf(arn)[which], 'SIGKILL');
    const before = performance.now();
    const { seenAt, stopCode, stoppedReason, containers } = await event(arn, 'STOPPED');
    expect({
      stopCode,
      stoppedReason,
      exitCode: containers[0]?.exitCode,
      reason: containers[0]?.reason,
    }).toEqual({
      stopCode: 'EssentialContainerExited',
      stoppedReason: 'Essential container in task exited',
      exitCode: 137,
      reason: undefined,
    });
    expect(seenAt - before).toBeLessThan(soonMs);
    expect(await isHealthy(address)).toBe(false);
  },
);

test('a sandbox without enough memory for its server dies and reports it; where limits are best effort, it runs', async () => {
  const overrides = request().overrides;
  const [container] = overrides?.containerOverrides ?? [];
  const arn = await run({ overrides: { ...overrides, containerOverrides: [{ ...container, memory: 24 }] } });
  // Without control groups nothing bounds the server: the runner counts user processes alone.
  if (ecs.limits === 'best effort') {
    expect(await bash(await untilHealthy(arn), 'echo runs')).toContain('runs');
    return;
  }
  const { containers, stopCode } = await event(arn, 'STOPPED');
  expect({ stopCode, exitCode: containers[0]?.exitCode, reason: containers[0]?.reason }).toEqual({
    stopCode: 'EssentialContainerExited',
    exitCode: 137,
    reason: 'OutOfMemoryError: Container killed due to memory usage',
  });
});

test('the shared volume is one folder for all sandboxes, also for files of others, and for the host', async () => {
  await writeFile(join(shared, 'from-host'), 'host');
  const [one, other] = [await runHealthy(), await runHealthy()];
  expect(
    await bash(
      one.address,
      'cat /shared/from-host && rm -rf /shared/d && mkdir /shared/d && echo one > /shared/d/f && echo made',
    ),
  ).toMatch(/host\s*made/);
  expect(
    await bash(
      other.address,
      'cat /shared/d/f && echo two >> /shared/d/f && rm -r /shared/d && echo removed',
    ),
  ).toMatch(/one\s+removed/);
  expect(await bash(other.address, 'echo kept > /shared/kept && echo done')).toContain('done');
  expect(await readFile(join(shared, 'kept'), 'utf8')).toBe('kept\n');
  if (isRoot) expect((await stat(shared)).mode & 0o7777).toBe(0o2775);
  expect(await bash(one.address, 'ls /workspace; ls -d /shared/..//*')).not.toContain('sallyport');
});

test('the server knows where the shared volume is', async () => {
  const { arn } = await runHealthy();
  const { server } = processesOf(arn);
  expect(readFileSync(`/proc/${server}/environ`, 'latin1').split('\0')).toContain(
    'SANDBOX_SHARED_PATH=/shared',
  );
});

test('faults are replaced at run time, and an invalid one is refused and changes nothing', async () => {
  await setFaults({ throttles: 1, capacityFailures: 1 });
  const wrong = await postFaults('{"throttle": 1}');
  expect([wrong.status, JSON.parse(wrong.text)]).toEqual([400, { message: 'Unrecognized key: "throttle"' }]);
  expect((await postFaults('{}', 'text/plain')).status).toBe(415);
  await expect(run()).rejects.toMatchObject({ name: 'ThrottlingException', message: 'Rate exceeded' });
  expect(await client.send(new RunTaskCommand(request()))).toMatchObject({
    tasks: [],
    failures: [{ reason: expect.stringContaining('Capacity is unavailable at this time.') }],
  });
  expect(await run()).toContain('task/sallyport/');
});

test('an address is unreachable for its time although the task runs', async () => {
  await setFaults({ unreachableMs: 3000, provisioningMs: 200 });
  const asked = performance.now();
  const arn = await run();
  const address = await addressOf(arn);
  const { seenAt } = await event(arn, 'RUNNING');
  expect(seenAt - asked).toBeGreaterThan(195);
  await expect(reach(address)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  await vi.waitUntil(() => isHealthy(address), { timeout: 50_000, interval: 20 });
  expect(performance.now() - seenAt).toBeGreaterThan(2900);
});

test('a StopTask that fails is an error of the server, and the next one works', async () => {
  await setFaults({ stopFailures: 1 });
  const arn = await run();
  await expect(stop(arn)).rejects.toMatchObject({ name: 'ServerException', $fault: 'server' });
  await stop(arn);
  await event(arn, 'STOPPED');
});

test('a task of another deployment is recognized by its startedBy', async () => {
  // Names of this try alone: the tasks of a failed one still run.
  const [us, them, clientToken] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
  const mine = await run({ startedBy: us, clientToken });
  expect(await run({ startedBy: us, clientToken })).toBe(mine);
  await expect(run({ startedBy: them, clientToken })).rejects.toMatchObject({
    name: 'ConflictException',
    resourceIds: [mine],
  });
  const theirs = await run({ startedBy: them, tags: [{ key: 'k', value: 'v' }] });
  const list = async (startedBy: string) =>
    (await client.send(new ListTasksCommand({ cluster: 'sallyport', startedBy }))).taskArns;
  expect([await list(us), await list(them)]).toEqual([[mine], [theirs]]);
  const described = await client.send(
    new DescribeTasksCommand({ cluster: 'sallyport', tasks: [theirs], include: ['TAGS'] }),
  );
  expect(described.tasks?.map(({ startedBy, tags }) => ({ startedBy, tags }))).toEqual([
    { startedBy: them, tags: [{ key: 'k', value: 'v' }] },
  ]);
});

test('an unsigned request is refused', async () => {
  const headers = { 'x-amz-target': 'AmazonEC2ContainerServiceV20141113.ListTasks' };
  // `fetch` says of itself that it is a browser's.
  const asked = httpRequest(ecs.url, { method: 'POST', headers }).end('{}');
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.resume();
  expect([answer.statusCode, answer.headers['x-amzn-errortype']]).toEqual([
    403,
    'MissingAuthenticationTokenException',
  ]);
});

test('a sandbox that is stopped at any moment of its start leaves no process', async () => {
  await stopAll();
  await expectNoProcess(home);
  const stopAfter = async (waitMs: number) => {
    const arn = await run();
    await event(arn, 'RUNNING');
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    await stop(arn);
    return event(arn, 'STOPPED');
  };
  const moments = Array.from({ length: 30 }, (_, index) => index * 3);
  const stopped = await Promise.all(moments.map(stopAfter));
  expect(stopped.map(({ stopCode }) => stopCode)).toEqual(moments.map(() => 'UserInitiated'));
  await expectNoProcess(home);
});

test('the end of the cloud kills every sandbox at once and leaves no process and no folder', async () => {
  const stopped: string[] = [];
  const log: string[] = [];
  const otherHome = await makeHome();
  const cloud = await start({
    home: otherHome,
    // Longer than this test may take: no task is given the time that a stopped one has.
    stopTimeoutMs: 600_000,
    log: (line) => log.push(line),
    onTaskEvent: (detail) => {
      const { taskArn, lastStatus } = detail as TaskDetail;
      if (lastStatus === 'STOPPED') stopped.push(taskArn);
    },
  });
  const { credentials } = cloud;
  const other = new ECSClient({ endpoint: cloud.url, region: 'us-east-1', credentials, maxAttempts: 1 });
  const arns: string[] = [];
  for (let index = 0; index < 10; index += 1)
    arns.push((await other.send(new RunTaskCommand(request()))).tasks?.[0]?.taskArn ?? '');
  await vi.waitFor(() => expect(tasksOf(otherHome).size).toBe(10), { timeout: 50_000 });
  await cloud.stop();
  expect(stopped.sort()).toEqual(arns.sort());
  await expectNoProcess(otherHome);
  expect(log.filter((line) => line.includes('could not be removed completely'))).toEqual([]);
});
