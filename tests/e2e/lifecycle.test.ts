/** Sandboxes are started once, hard limits hold, what is idle is taken away and what is busy is not. */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, onTestFailed, test } from 'vitest';
import { ageSandbox, endSession, sandboxRecord } from './agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import { killServer } from './sandbox-processes.ts';
import { isStrict } from './server.ts';
import { connect } from './socket-client.ts';

type Shown = {
  readonly id: string;
  readonly status: string;
  readonly workspace: string;
  readonly sandbox: { readonly state: string; readonly reason?: string } | null;
};

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud({ variables: { MAX_IDLE_TIME_MS: '1000', MSB_MAX_SESSIONS: '60' } });
});
afterAll(() => cloud.stop());

/** Ended if its try fails: in the next one it would be counted, or swept. */
const make = async (options: object): Promise<Shown> => {
  const made = await cloud.ask<Shown>('/api/sessions', { method: 'POST', body: JSON.stringify(options) });
  onTestFailed(async () => {
    await end(made.id);
  });
  return made;
};
const shown = (id: string): Promise<Shown> => cloud.ask(`/api/sessions/${id}`);
const listFiles = (id: string): Promise<object> => cloud.ask(`/api/sessions/${id}/files`);
/** A sandbox that a busy machine keeps from answering is asked again, as its client is told. */
const acquire = async (id: string): Promise<void> => {
  const { status } = await eventually(
    () => cloud.request(`/api/sessions/${id}/files`),
    (response) => response.status !== 503,
  );
  expect(status).toBe(200);
};
const end = (id: string): Promise<object> => cloud.ask(`/api/sessions/${id}`, { method: 'DELETE' });

/** As if nothing had happened in the session for so long, and its moment had come. */
const age = async (id: string, milliseconds: number): Promise<void> => {
  await cloud.table.client.send(
    new UpdateCommand({
      TableName: cloud.table.name,
      Key: { pk: `SESSION#${id}`, sk: 'META' },
      UpdateExpression: 'SET lastActiveAt = lastActiveAt - :ms, dueAt = :now',
      ExpressionAttributeValues: { ':ms': milliseconds, ':now': Date.now() - 1 },
    }),
  );
  await ageSandbox(cloud, id, milliseconds);
};

const makeDue = async (workspace: string): Promise<void> => {
  await cloud.table.client.send(
    new UpdateCommand({
      TableName: cloud.table.name,
      Key: { pk: `WORKSPACE#${workspace}`, sk: 'META' },
      UpdateExpression: 'SET dueAt = :now',
      ExpressionAttributeValues: { ':now': Date.now() - 1 },
    }),
  );
};

/** More than any test asks for. */
const always = 1_000_000;

/** Count of the text in the functions' structured log. */
const printed = (text: string): number => cloud.printed().split(text).length - 1;
const logged = (event: string): number => printed(`"event":"${event}"`);

/** In strict mode each acquire that waits is a thread, of which 64 run at once. */
const crowd = isStrict ? { sessions: 6, acquires: 10 } : { sessions: 50, acquires: 10 };

test(`L1: ${crowd.acquires} acquires of each of ${crowd.sessions} sessions start one task each`, async () => {
  const before = (await cloud.runningTasks()).length;
  const allEnded = () => eventually(cloud.runningTasks, (tasks) => tasks.length === before);
  onTestFailed(async () => {
    await allEnded();
  });
  const sessions = await Promise.all(
    Array.from({ length: crowd.sessions }, () => make({ kind: 'execution', flavor: 'micro' })),
  );
  await Promise.all(sessions.flatMap(({ id }) => Array.from({ length: crowd.acquires }, () => acquire(id))));
  expect((await cloud.runningTasks()).length - before).toBe(crowd.sessions);
  const states = await Promise.all(sessions.map(({ id }) => shown(id)));
  expect(new Set(states.map(({ sandbox }) => sandbox?.state))).toEqual(new Set(['ready']));
  await Promise.all(sessions.map(({ id }) => end(id)));
  await allEnded();
});

test('L6: an idle agent session loses its sandbox in one sweep, however many janitors sweep, and stays active', async () => {
  const { id } = await make({ flavor: 'micro' });
  await listFiles(id);
  await age(id, 5000);
  const before = logged('sandbox_rested');
  await Promise.all(Array.from({ length: 5 }, () => cloud.janitor({ sweep: 'due' })));
  const after = await eventually(
    () => shown(id),
    ({ sandbox }) => sandbox?.state === 'stopped',
  );
  expect(after).toMatchObject({ status: 'created', sandbox: { state: 'stopped', reason: 'idle' } });
  await listFiles(id);
  expect((await shown(id)).sandbox).toMatchObject({ state: 'ready' });
  expect(logged('sandbox_rested') - before).toBe(1);
  await endSession(cloud, id);
});

test('an idle execution session is paused in one sweep, once by five janitors, and its slot is free', async () => {
  const { id } = await make({ kind: 'execution', flavor: 'micro' });
  await listFiles(id);
  const { activeSessions: before } = await cloud.ask<{ activeSessions: number }>('/api/stats');
  await age(id, 1_900_000);
  const paused = logged('session_paused');
  await Promise.all(Array.from({ length: 5 }, () => cloud.janitor({ sweep: 'due' })));
  expect((await shown(id)).status).toBe('paused');
  expect((await cloud.ask<{ activeSessions: number }>('/api/stats')).activeSessions).toBe(before - 1);
  await eventually(
    () => shown(id),
    ({ sandbox }) => sandbox?.state === 'stopped',
  );
  // Output of a function comes a moment after its answer.
  expect(
    await eventually(
      async () => logged('session_paused') - paused,
      (times) => times > 0,
    ),
  ).toBe(1);
});

test('L5: a session with a running tool is never idle', async () => {
  const { id } = await make({ flavor: 'micro', approvals: 'auto' });
  const client = await connect({ url: cloud.url, token: cloud.token }, { sessionId: id });
  await client.untilType('system:ready');
  client.send('message', { text: '$ until [ -e go ]; do sleep 0.1; done; echo done' });
  await client.untilType('tool:call');
  await eventually(
    () => shown(id),
    ({ sandbox }) => sandbox?.state === 'ready',
  );
  for (let sweep = 0; sweep < 4; sweep += 1) {
    await age(id, 10_000);
    await cloud.janitor({ sweep: 'due' });
    expect((await shown(id)).sandbox?.state).toBe('ready');
  }
  expect(client.frames.filter(({ type }) => type === 'tool:output')).toEqual([]);
  await cloud.request(`/api/sessions/${id}/files/go`, { method: 'PUT', body: '' });
  const completion = await client.untilType('completion');
  expect(completion.data.text).toContain('done');
  await client.close();
  await endSession(cloud, id);
});

test('L5: one whose child waits for a person loses its sandbox, and continues in another', async () => {
  const { id } = await make({ flavor: 'micro' });
  const client = await connect({ url: cloud.url, token: cloud.token }, { sessionId: id });
  await client.untilType('system:ready');
  const approve = async (nth: number): Promise<void> => {
    const { data, sessionId } = await client.untilType('tool:approval_required', nth);
    client.send('tool:approval', { callId: data.callId, approved: true, ...(sessionId && { sessionId }) });
  };
  client.send('message', { text: '$ echo kept > note' });
  await approve(0);
  await client.untilType('completion');
  client.send('message', {
    text: `call session ${JSON.stringify({ action: 'spawn', prompt: '$ echo seen' })}`,
  });
  await approve(1);
  await client.untilType('tool:approval_required', 2);
  await eventually(
    async () => {
      await age(id, 10_000);
      await cloud.janitor({ sweep: 'due' });
      return shown(id);
    },
    ({ sandbox }) => sandbox?.state === 'stopped',
  );
  expect((await shown(id)).status).toBe('running');
  await approve(2);
  const completion = await client.untilType('completion', 1);
  expect(completion.data.text).toContain('seen');
  expect(await (await cloud.request(`/api/sessions/${id}/files/note`)).text()).toBe('kept\n');
  await client.close();
  await endSession(cloud, id);
});

test('L7: a StopTask that fails leaves the sandbox listed, and a sweep finishes it later', async () => {
  const session = await make({ kind: 'execution', flavor: 'micro' });
  await listFiles(session.id);
  const { activeSessions: before } = await cloud.ask<{ activeSessions: number }>('/api/stats');
  const refused = printed('a sandbox did not stop');
  await cloud.setFaults({ stopFailures: always });
  await end(session.id);
  await eventually(
    async () => printed('a sandbox did not stop'),
    (times) => times > refused,
  );
  expect((await shown(session.id)).sandbox?.state).toBe('stopping');
  expect((await cloud.ask<{ activeSessions: number }>('/api/stats')).activeSessions).toBe(before - 1);
  await cloud.setFaults({});
  await eventually(
    async () => {
      // The failed janitor may still be recording that; the next sweep finds it.
      await makeDue(session.workspace);
      await cloud.janitor({ sweep: 'due' });
      return shown(session.id);
    },
    ({ sandbox }) => sandbox?.state === 'stopped',
  );
});

test('a killed sandbox reports why before it is used or swept, and its log can still be read', async () => {
  const { id, workspace } = await make({ kind: 'execution', flavor: 'micro' });
  await listFiles(id);
  killServer(cloud.home, (await sandboxRecord(cloud, workspace)).taskArn ?? '');
  const { sandbox } = await eventually(
    () => shown(id),
    (session) => session.sandbox?.state === 'stopped',
  );
  expect(sandbox?.reason).toContain('exit code 137');
  const { lines } = await cloud.ask<{ lines: { stream: string; text: string }[] }>(
    `/api/sessions/${id}/logs`,
  );
  expect(lines.filter(({ stream }) => stream === 'lifecycle').at(-1)?.text).toContain('exit code 137');
  await listFiles(id);
  expect((await shown(id)).sandbox?.state).toBe('ready');
  await end(id);
});

test('a session that has no sandbox holds no slot: of 100 concurrent creations with a limit of 60 all succeed', async () => {
  const options = { method: 'POST', body: JSON.stringify({ kind: 'execution' }) };
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => cloud.request('/api/sessions', options)),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(100);
});
