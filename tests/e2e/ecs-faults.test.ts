/** Faults of Fargate: a start that is refused, dies, or is not reported, and the caller's answer. */
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { sandboxWaitMsMax } from '#shared/domain/limits.ts';
import { endSession, makeSession, openAgent, sandboxRecord, showSession, systemEvents } from './agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import { connect, errorOf } from './mcp-clients.ts';
import { killServer } from './sandbox-processes.ts';
import { isStrict } from './server.ts';

/** A caller that did not check a start would give up then, and be refused. */
const giveUpMs = sandboxWaitMsMax;

/** More than any test asks for. */
const always = 1_000_000;

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud({ variables: { MSB_MAX_SESSIONS: '60' } });
});
beforeEach(async () => {
  // The events of a test's faults are counted: none of the test before may be among them.
  await cloud.untilEndsAreTold();
  await cloud.setFaults({});
});
afterAll(() => cloud.stop());

/** Ended with its try, also one that failed: tasks of all tests are counted. */
const make = async (options: object = {}) => {
  const made = await makeSession(cloud, { kind: 'execution', flavor: 'micro', ...options });
  onTestFinished(() => endSession(cloud, made.id));
  return made;
};

type Refused = {
  readonly error: {
    readonly code: string;
    readonly suggestions: readonly string[];
    readonly recoveryActions: readonly string[];
  };
};

/** The first request of a session, which starts its sandbox: how it ended, and after how long. */
const firstRequest = async (id: string) => {
  const begun = performance.now();
  const response = await cloud.request(`/api/sessions/${id}/files`);
  const body = (await response.json()) as Partial<Refused>;
  return { status: response.status, error: body.error, ms: performance.now() - begun };
};

test('a start without capacity is retried with growing pauses until there is room', async () => {
  const { id } = await make();
  await cloud.setFaults({ capacityFailures: 2 });
  const { status, ms } = await firstRequest(id);
  expect(status).toBe(200);
  expect(ms).toBeGreaterThan(1500);
});

test('without any capacity every waiting caller is told, with advice', async () => {
  const { id, workspace } = await make();
  const agent = await openAgent(cloud);
  onTestFinished(agent.close);
  await cloud.setFaults({ capacityFailures: always });
  const first = firstRequest(id);
  await eventually(
    () => showSession(cloud, id),
    ({ sandbox }) => sandbox?.state === 'starting',
  );
  // At once: all that is waited for are a few seconds.
  const others = [firstRequest(id), firstRequest(id)];
  const turn = agent.say('$ echo no room');
  const answers = await Promise.all([first, ...others]);
  for (const { status, error } of answers) {
    expect([status, error?.code]).toEqual([503, 'sandbox_unavailable']);
    expect(error?.suggestions).toEqual(['Try again in a minute, or use a smaller flavor.']);
    expect(error?.recoveryActions).toEqual(['wait_and_retry', 'retry_with_smaller_flavor']);
  }
  // Requests that came during the start waited for the same one. In strict mode a cold environment may come when it has failed already.
  const startsMax = isStrict ? answers.length : 1;
  expect((await sandboxRecord(cloud, workspace)).generation).toBeLessThanOrEqual(startsMax);
  const frames = await turn;
  expect(frames.find(({ type }) => type === 'agent:error')?.data).toMatchObject({
    code: 'sandbox_unavailable',
    message: expect.stringContaining('Tool execute_command failed: there is no capacity for a sandbox'),
  });
  expect(frames.at(-1)).toMatchObject({ type: 'completion', data: { stopReason: 'end_turn' } });
  expect(await cloud.runningTasks()).toEqual([]);
  await cloud.setFaults({});
  expect((await firstRequest(id)).status).toBe(200);
});

test('a session that allows it gets the next smaller sandbox when its own size has no capacity', async () => {
  const { id, workspace } = await make({ flavor: 'small', allowSmallerFlavor: true });
  await cloud.setFaults({ capacityFailuresFor: ['1024'] });
  expect((await firstRequest(id)).status).toBe(200);
  expect(await sandboxRecord(cloud, workspace)).toMatchObject({ flavor: 'micro', state: 'ready' });
  const strict = await make({ flavor: 'small' });
  expect(await firstRequest(strict.id)).toMatchObject({
    status: 503,
    error: { code: 'sandbox_unavailable' },
  });
});

test('throttled starts are retried, and succeed when ECS accepts them', async () => {
  const { id } = await make();
  await cloud.setFaults({ throttles: 5 });
  expect((await firstRequest(id)).status).toBe(200);
});

test('a sandbox that dies while starting is started again; one that always dies has failed to start', async () => {
  const { id, workspace } = await make();
  await cloud.setFaults({ diesWhileStarting: 1 });
  expect((await firstRequest(id)).status).toBe(200);
  expect((await sandboxRecord(cloud, workspace)).generation).toBe(2);
  const doomed = await make();
  await cloud.setFaults({ diesWhileStarting: always });
  const { status, error } = await firstRequest(doomed.id);
  expect([status, error?.code]).toEqual([502, 'sandbox_start_failed']);
  expect(error?.recoveryActions).toEqual(['wait_and_retry']);
  // Three starts, and no fourth that nobody waits for.
  expect((await sandboxRecord(cloud, doomed.workspace)).generation).toBe(3);
  expect((await showSession(cloud, doomed.id)).sandbox).toMatchObject({
    state: 'stopped',
    reason: expect.stringContaining('CannotPullContainerError'),
  });
});

test('an execution whose first sandbox fails to start leaves its session in error, until a client stops it', async () => {
  const client = await connect(cloud);
  onTestFinished(() => client.close());
  await cloud.setFaults({ diesWhileStarting: always });
  const error = errorOf(await client.call('execute_code', { code: '1', flavor: 'micro' }));
  expect(error.type).toBe('sandbox_start_failed');
  const id = String(Object.entries(error).find(([name]) => name === 'session_id')?.[1]);
  expect((await showSession(cloud, id)).status).toBe('error');
  expect((await firstRequest(id)).error?.code).toBe('invalid_session_state');
  await endSession(cloud, id);
  expect((await showSession(cloud, id)).status).toBe('stopped');
});

test('a sandbox without an address event is found by asking ECS', async () => {
  const { id } = await make();
  await cloud.setFaults({ events: { lose: 1 } });
  const { status, ms } = await firstRequest(id);
  expect(status).toBe(200);
  expect(ms).toBeGreaterThan(5000);
  expect(ms).toBeLessThan(giveUpMs);
});

test('a failed start without an event is found by asking ECS, and repeated', async () => {
  const { id, workspace } = await make();
  // Its end is told twice.
  await cloud.setFaults({ diesWhileStarting: 1, events: { lose: 2 } });
  const { status, ms } = await firstRequest(id);
  expect(status).toBe(200);
  expect(ms).toBeGreaterThan(5000);
  expect(ms).toBeLessThan(giveUpMs);
  expect((await sandboxRecord(cloud, workspace)).generation).toBe(2);
});

test('repeated events out of order start, ready and stop a sandbox once', async () => {
  const { id, workspace } = await make();
  await cloud.setFaults({ events: { double: true, shuffle: true } });
  expect((await firstRequest(id)).status).toBe(200);
  const { taskArn = '' } = await sandboxRecord(cloud, workspace);
  killServer(cloud.home, taskArn);
  await eventually(
    () => showSession(cloud, id),
    ({ sandbox }) => sandbox?.state === 'stopped',
  );
  expect((await firstRequest(id)).status).toBe(200);
  // The last of the doubled events came before the second sandbox was ready, or changes nothing.
  await cloud.janitor({ sweep: 'due' });
  expect(await sandboxRecord(cloud, workspace)).toMatchObject({ generation: 2, state: 'ready' });
  const starts = await eventually(
    () => systemEvents(cloud, id, 'sandbox_started'),
    ({ length }) => length > 1,
  );
  expect(starts).toHaveLength(2);
  expect(await systemEvents(cloud, id, 'sandbox_stopped')).toHaveLength(1);
});

test('a sandbox that cannot be reached at first is waited for', async () => {
  const { id, workspace } = await make();
  await cloud.setFaults({ unreachableMs: 5000 });
  const { status, ms } = await firstRequest(id);
  expect(status).toBe(200);
  expect(ms).toBeGreaterThan(5000);
  expect((await sandboxRecord(cloud, workspace)).generation).toBe(1);
});
