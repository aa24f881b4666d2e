/** Sandboxes and their programs after a power cut: nothing is left running, and every end is reported. */
import { rm } from 'node:fs/promises';
import { afterAll, expect, test } from 'vitest';
import { eventually } from './embedded-cloud.ts';
import { sandboxProcesses } from './sandbox-processes.ts';
import { makeHomePath, type Server, startServer } from './server.ts';
import { connect } from './socket-client.ts';

type Shown = {
  readonly id: string;
  readonly status: string;
  readonly sandbox: { readonly state: string; readonly reason?: string } | null;
};

type Logged = { readonly type: string; readonly data: Readonly<Record<string, unknown>> };

const started: Server[] = [];
afterAll(() => Promise.all(started.map((server) => server.stop())));

const begin = async (home: string): Promise<Server> => {
  const server = await startServer({ home, variables: { SALLYPORT_SWEEP_SECONDS: '1' } });
  started.push(server);
  return server;
};

const ask = async <T>({ request }: Server, path: string, init: RequestInit = {}): Promise<T> => {
  const response = await request(path, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return JSON.parse(text) as T;
};

const make = (server: Server, options: object): Promise<Shown> =>
  ask(server, '/api/sessions', { method: 'POST', body: JSON.stringify({ flavor: 'micro', ...options }) });

const show = (server: Server, id: string): Promise<Shown> => ask(server, `/api/sessions/${id}`);

const events = async (server: Server, id: string): Promise<readonly Logged[]> =>
  (await ask<{ events: readonly Logged[] }>(server, `/api/sessions/${id}/events`)).events;

const stops = async (server: Server, id: string): Promise<readonly unknown[]> =>
  (await events(server, id)).filter(({ data }) => data['kind'] === 'sandbox_stopped').map(({ data }) => data);

const put = (server: Server, id: string, body: string): Promise<Response> =>
  server.request(`/api/sessions/${id}/files/kept`, { method: 'PUT', body });

test('what a power cut interrupted goes on with the start, though no lease has run out and the next sweep is an hour away', async () => {
  const home = await makeHomePath();
  const variables = { TURN_LEASE_SECONDS: '300', SALLYPORT_SWEEP_SECONDS: '3600' };
  const begun = async (): Promise<Server> => {
    const server = await startServer({ home, variables });
    started.push(server);
    return server;
  };
  const first = await begun();
  const agent = await make(first, { approvals: 'auto' });
  const client = await connect(first, { sessionId: agent.id });
  client.send('message', { text: '$ echo begun; touch begun; sleep 25; echo done' });
  await client.untilType('tool:progress');
  await first.kill();

  const second = await begun();
  const log = await eventually(
    () => events(second, agent.id),
    (logged) => logged.some(({ type }) => type === 'completion'),
    60_000,
  );
  const ends = log.flatMap(({ type, data }) => (type === 'agent:error' ? [data['code']] : []));
  expect(ends).toEqual(['tool_outcome_unknown']);
  expect(log.filter(({ type }) => type === 'completion').map(({ data }) => data['stopReason'])).toEqual([
    'end_turn',
  ]);
  expect(await second.stop()).toBe(0);
  await rm(home, { recursive: true, force: true });
});

test('a power cut leaves no process, and after it every sandbox and every turn ends', async () => {
  const home = await makeHomePath();
  const first = await begin(home);
  const agent = await make(first, { approvals: 'auto' });
  const execution = await make(first, { kind: 'execution' });
  const idle = await make(first, { kind: 'execution' });
  expect((await put(first, execution.id, 'before the cut')).status).toBe(201);
  const client = await connect(first, { sessionId: agent.id });
  client.send('message', { text: '$ echo begun; touch begun; sleep 25; echo done' });
  await client.untilType('tool:progress');
  expect(new Set(sandboxProcesses(home).map(({ taskId }) => taskId)).size).toBe(2);

  await first.kill();
  await eventually(
    () => Promise.resolve(sandboxProcesses(home)),
    (left) => left.length === 0,
  );

  const second = await begin(home);
  const ids = [agent.id, execution.id, idle.id];
  const [told] = await eventually(
    () => stops(second, agent.id),
    (stopped) => stopped.length > 0,
    60_000,
  );
  expect(told).toMatchObject({
    kind: 'sandbox_stopped',
    reason: expect.stringContaining('it no longer runs'),
  });
  await eventually(
    () => show(second, execution.id),
    ({ sandbox }) => sandbox?.state === 'stopped',
    60_000,
  );
  expect(await show(second, execution.id)).toMatchObject({
    status: 'ready',
    sandbox: { state: 'stopped', reason: expect.stringContaining('it no longer runs') },
  });

  const log = await eventually(
    () => events(second, agent.id),
    (logged) => logged.some(({ type }) => type === 'completion'),
    60_000,
  );
  const failure = log.find(({ type }) => type === 'agent:error');
  expect(failure?.data).toMatchObject({ code: 'tool_outcome_unknown' });
  expect(log.filter(({ type }) => type === 'completion').map(({ data }) => data['stopReason'])).toEqual([
    'end_turn',
  ]);
  expect(await show(second, agent.id)).toMatchObject({ status: 'idle' });

  const kept = await second.request(`/api/sessions/${execution.id}/files/kept`);
  expect([kept.status, await kept.text()]).toEqual([200, 'before the cut']);
  expect((await put(second, execution.id, 'after it')).status).toBe(200);
  expect((await show(second, execution.id)).sandbox?.state).toBe('ready');
  expect((await put(second, idle.id, 'first')).status).toBe(201);

  const { sessions } = await ask<{ sessions: readonly Shown[] }>(second, '/api/sessions');
  const listed = sessions.map(({ id }) => id).sort();
  expect(listed).toEqual([...ids].sort());
  const used = (await Promise.all(ids.map((id) => show(second, id)))).filter(
    ({ sandbox }) => sandbox?.state === 'ready',
  );
  expect(new Set(sandboxProcesses(home).map(({ taskId }) => taskId)).size).toBe(used.length);

  expect(await second.stop()).toBe(0);
  await eventually(
    () => Promise.resolve(sandboxProcesses(home)),
    (left) => left.length === 0,
  );
  await rm(home, { recursive: true, force: true });
});
