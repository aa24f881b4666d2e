/** Snapshots, forks and restores through the real parts: files of one moment, shared between workspaces, never lost. */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, onTestFailed, test } from 'vitest';
import { api, type Snapshot } from '#sdk/routes.ts';
import { Sallyport } from '#sdk/sallyport.ts';
import { keys } from '#shared/adapters/aws/dynamo/table.ts';
import type { RecordedCall } from '../../local/recorder/start.ts';
import { endSession, makeSession, type Shown, showSession } from './agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import { storedObjects } from './stored-objects.ts';

const calls: RecordedCall[] = [];
let cloud: EmbeddedCloud;
let client: Sallyport;
beforeAll(async () => {
  cloud = await openEmbeddedCloud({
    variables: { MSB_MAX_SESSIONS: '100', MAX_SNAPSHOTS: '4' },
    recordCall: (call) => calls.push(call),
  });
  client = new Sallyport(cloud);
});
afterAll(() => cloud.stop());

const open = (options: object = {}): Promise<Shown> =>
  makeSession(cloud, { kind: 'execution', flavor: 'micro', ...options });

const write = async ({ id }: Shown, path: string, body: string): Promise<void> => {
  const response = await cloud.request(`/api/sessions/${id}/files/${path}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/octet-stream' },
    body,
  });
  expect([200, 201]).toContain(response.status);
};

const read = async ({ id }: Shown, path: string): Promise<string | number> => {
  const response = await cloud.request(`/api/sessions/${id}/files/${path}`);
  const text = await response.text();
  return response.ok ? text : response.status;
};

const snapshotOf = async (session: Shown, name?: string): Promise<Snapshot> => {
  const body = name === undefined ? {} : { name };
  const snapshot = await client.request(api.makeSnapshot, { params: { id: session.id }, body });
  // The project has room for few.
  onTestFailed(() => drop(session, snapshot).catch(() => undefined));
  return snapshot;
};

const drop = ({ id }: Shown, snapshot: Snapshot): Promise<undefined> =>
  client.request(api.deleteSnapshot, { params: { id, snapshotId: snapshot.id } });

const post = (path: string, body: object): Promise<Response> =>
  cloud.request(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

const restore = ({ id }: Shown, snapshot: Snapshot): Promise<Response> =>
  post(`/api/sessions/${id}/restore`, { snapshot: snapshot.id });

const refusal = async (response: Response): Promise<readonly [number, string]> => [
  response.status,
  ((await response.json()) as { readonly error: { readonly code: string } }).error.code,
];

const objectWrites = (): readonly string[] =>
  calls
    .filter(({ service }) => service === 's3')
    .flatMap(({ authorisations }) => authorisations.map(({ action }) => action))
    .filter((action) => !/Get|List|Head/.test(action));

/** As if no pin of the workspace had been made for a while: the janitor collects those that ended. */
const collect = async (workspace: string): Promise<void> => {
  const aged = new UpdateCommand({
    TableName: cloud.table.name,
    Key: keys.pins(workspace),
    UpdateExpression: 'SET changedAt = changedAt - :ms',
    ConditionExpression: 'attribute_exists(changedAt)',
    ExpressionAttributeValues: { ':ms': 60_000 },
  });
  await cloud.table.client.send(aged).catch((error: Error) => {
    // The last collection deleted the set.
    if (error.name !== 'ConditionalCheckFailedException') throw error;
  });
  await cloud.janitor({ sweep: 'due' });
};

test('a snapshot, a change, a restore: the files are those of the snapshot, and processes have ended', async () => {
  const session = await open();
  await write(session, 'kept.txt', 'before');
  const snapshot = await snapshotOf(session, 'first');
  const { id, at } = snapshot;
  expect(snapshot).toEqual({ id, name: 'first', at, files: 1, bytes: 6 });
  await write(session, 'kept.txt', 'after');
  await write(session, 'later.txt', 'later');
  const before = (await showSession(cloud, session.id)).sandbox;
  expect((await restore(session, snapshot)).status).toBe(200);
  expect([await read(session, 'kept.txt'), await read(session, 'later.txt')]).toEqual(['before', 404]);
  expect((await showSession(cloud, session.id)).sandbox?.requestedAt).not.toBe(before?.requestedAt);
  // The objects of the snapshot stay through two more saves, which delete what is obsolete.
  for (const text of ['on top', 'once more', 'at last']) await write(session, 'kept.txt', text);
  expect((await restore(session, snapshot)).status).toBe(200);
  expect(await read(session, 'kept.txt')).toBe('before');
  const { snapshots } = await client.request(api.listSnapshots, { params: { id: session.id } });
  expect(snapshots).toEqual([snapshot]);
  await drop(session, snapshot);
  await collect(session.workspace);
  await write(session, 'kept.txt', 'without the snapshot');
  expect(await read(session, 'kept.txt')).toBe('without the snapshot');
  expect(await refusal(await restore(session, snapshot))).toEqual([404, 'not_found']);
  await endSession(cloud, session.id);
});

test('SN5: fifty forks of one snapshot copy no object, and each is its own', async () => {
  const source = await open();
  await write(source, 'shared.txt', 'of the source');
  const snapshot = await snapshotOf(source);
  const before = objectWrites().length;
  expect(before).toBeGreaterThan(0);
  const forks = await Promise.all(
    Array.from({ length: 50 }, () => open({ kind: 'agent', from: { snapshot: snapshot.id } })),
  );
  expect(objectWrites().slice(before)).toEqual([]);
  expect(new Set(forks.map(({ workspace }) => workspace)).size).toBe(50);
  const [one, other] = forks as [Shown, Shown];
  await write(one, 'shared.txt', 'of one fork');
  expect([
    await read(one, 'shared.txt'),
    await read(other, 'shared.txt'),
    await read(source, 'shared.txt'),
  ]).toEqual(['of one fork', 'of the source', 'of the source']);
  await drop(source, snapshot);
  for (const { id } of forks) await client.request(api.endSession, { params: { id } });
  await endSession(cloud, source.id);
});

test('a fork of a session has what its sandbox has now, and outlives it; in the end nothing is left', async () => {
  const source = await open();
  await write(source, 'a.txt', 'a');
  const fork = await open({ from: { session: source.id } });
  await write(source, 'a.txt', 'changed since');
  await endSession(cloud, source.id);
  await client.request(api.cleanUpSessions, { body: { maxAgeHours: 0 } });
  await eventually(
    () => storedObjects(cloud.home, source.workspace),
    (objects) => objects.length === 2,
    20_000,
  );
  expect(await read(fork, 'a.txt')).toBe('a');
  await write(fork, 'b.txt', 'b');
  // A fork of the fork needs objects of both.
  const third = await open({ from: { session: fork.id } });
  await endSession(cloud, fork.id);
  await client.request(api.cleanUpSessions, { body: { maxAgeHours: 0 } });
  expect([await read(third, 'a.txt'), await read(third, 'b.txt')]).toEqual(['a', 'b']);
  await endSession(cloud, third.id);
  await client.request(api.cleanUpSessions, { body: { maxAgeHours: 0 } });
  const left = async (): Promise<readonly string[]> => {
    await collect(source.workspace);
    await collect(fork.workspace);
    const all = await Promise.all(
      [source, fork, third].map((one) => storedObjects(cloud.home, one.workspace)),
    );
    return all.flat();
  };
  await eventually(left, (objects) => objects.length === 0);
});

test('a project has at most MAX_SNAPSHOTS, and a deleted one makes room', async () => {
  const session = await open();
  const made = await Promise.all(Array.from({ length: 4 }, () => snapshotOf(session)));
  expect(made.map(({ files, bytes }) => [files, bytes])).toEqual(made.map(() => [0, 0]));
  const full = await post(`/api/sessions/${session.id}/snapshots`, {});
  expect(await refusal(full)).toEqual([429, 'resource_limit_exceeded']);
  for (const snapshot of made) await drop(session, snapshot);
  const again = await snapshotOf(session);
  await write(session, 'a.txt', 'a');
  expect((await restore(session, again)).status).toBe(200);
  expect(await read(session, 'a.txt')).toBe(404);
  await drop(session, again);
  await endSession(cloud, session.id);
});

test('a source of another project is not found', async () => {
  const mine = await open();
  await write(mine, 'a.txt', 'a');
  const snapshot = await snapshotOf(mine);
  const { id: project } = await client.request(api.makeProject, { body: { name: 'other' } });
  const theirs = await open({ project });
  const forks = [{ snapshot: snapshot.id }, { session: mine.id }];
  const answers = await Promise.all(
    forks.map(async (from) => refusal(await post('/api/sessions', { project, from }))),
  );
  expect(answers).toEqual([
    [404, 'not_found'],
    [404, 'session_not_found'],
  ]);
  expect(await refusal(await restore(theirs, snapshot))).toEqual([404, 'not_found']);
  const deleted = await cloud.request(`/api/sessions/${theirs.id}/snapshots/${snapshot.id}`, {
    method: 'DELETE',
  });
  expect(await refusal(deleted)).toEqual([404, 'not_found']);
  expect(await refusal(await post('/api/sessions', { from: {} }))).toEqual([400, 'invalid_request']);
  await drop(mine, snapshot);
  await endSession(cloud, theirs.id);
  await endSession(cloud, mine.id);
});

const json = { 'content-type': 'application/json' };
/** A program of the test's sandbox goes on until this file says so. */
const untilGo = 'until grep -q yes go; do sleep 0.1; done';
test.each<[string, (id: string) => Promise<Response>]>([
  ['exec', (id) => post(`/api/sessions/${id}/exec`, { command: `touch begun; ${untilGo}` })],
  [
    'followed exec',
    (id) =>
      cloud.request(`/api/sessions/${id}/exec`, {
        method: 'POST',
        headers: { ...json, accept: 'text/event-stream' },
        body: JSON.stringify({ command: `touch begun; ${untilGo}` }),
      }),
  ],
  [
    'code',
    (id) =>
      post(`/api/sessions/${id}/code`, {
        code: `import subprocess; subprocess.run(${JSON.stringify(`touch begun; ${untilGo}`)}, shell=True)`,
      }),
  ],
])('a restore while a client’s %s runs in an agent’s session is refused', async (_, run) => {
  const agent = await makeSession(cloud, { flavor: 'micro' });
  await write(agent, 'go', 'no');
  const snapshot = await snapshotOf(agent);
  const running = run(agent.id).then((response) => response.text());
  await eventually(
    () => cloud.request(`/api/sessions/${agent.id}/files/begun`),
    ({ ok }) => ok,
    20_000,
  );
  expect(await refusal(await restore(agent, snapshot))).toEqual([409, 'conflict']);
  await write(agent, 'go', 'yes');
  await running;
  await eventually(
    () => restore(agent, snapshot),
    ({ ok }) => ok,
    20_000,
  );
  await drop(agent, snapshot);
  await endSession(cloud, agent.id);
});

test('a restore ends a process, which is no call', async () => {
  const agent = await makeSession(cloud, { flavor: 'micro' });
  const snapshot = await snapshotOf(agent);
  await post(`/api/sessions/${agent.id}/processes`, { command: 'sleep 3600' });
  expect((await restore(agent, snapshot)).status).toBe(200);
  await drop(agent, snapshot);
  await endSession(cloud, agent.id);
});

test('a restore while a call runs is refused', async () => {
  const agent = await makeSession(cloud, { approvals: 'auto', flavor: 'micro' });
  await write(agent, 'go', 'no');
  const snapshot = await snapshotOf(agent);
  const wait = '$ until grep -q yes go; do sleep 0.1; done; echo went';
  await client.request(api.sendMessage, { params: { id: agent.id }, body: { text: wait } });
  await eventually(
    () => client.request(api.readEvents, { params: { id: agent.id } }),
    ({ events }) => events.some(({ type }) => type === 'tool:call'),
    20_000,
  );
  expect(await refusal(await restore(agent, snapshot))).toEqual([409, 'conflict']);
  await write(agent, 'go', 'yes');
  await eventually(
    () => client.request(api.readEvents, { params: { id: agent.id } }),
    ({ events }) => events.some(({ type }) => type === 'completion'),
    20_000,
  );
  await eventually(
    () => restore(agent, snapshot),
    ({ status }) => status === 200,
    10_000,
  );
  expect(await read(agent, 'go')).toBe('no');
  await drop(agent, snapshot);
  await endSession(cloud, agent.id);
});
