/**
 * Power cuts while a parent waits for its children: it gets one answer of each, whoever was at work, and no child is
 * started twice.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { eventually } from './embedded-cloud.ts';
import { makeHomePath, type Server, startServer } from './server.ts';
import { connect, type Received } from './socket-client.ts';

type Logged = Pick<Received, 'type' | 'data'> & { readonly index: number };
type Shown = { readonly id: string; readonly root?: string; readonly status: string };

const started: Server[] = [];
afterAll(() => Promise.all(started.map((server) => server.stop())));

const variables = { TURN_LEASE_SECONDS: '3', SALLYPORT_SWEEP_SECONDS: '1' };
const children = [1, 2, 3];

const ask = async <T>({ request }: Server, path: string, body?: object): Promise<T> => {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const response = await request(path, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return JSON.parse(text) as T;
};

const open = async (
  options: object,
): Promise<{ begin: () => Promise<Server>; server: Server; id: string }> => {
  const home = await makeHomePath();
  const begin = async (): Promise<Server> => {
    const server = await startServer({ home, variables });
    started.push(server);
    return server;
  };
  const server = await begin();
  const { id } = await ask<{ id: string }>(server, '/api/sessions', { flavor: 'micro', ...options });
  return { begin, server, id };
};

const say = (server: Server, id: string, line: (n: number) => string): Promise<unknown> => {
  const spawn = (n: number): string =>
    `call session ${JSON.stringify({ action: 'spawn', prompt: `$ ${line(n)}` })}`;
  return ask(server, `/api/sessions/${id}/messages`, {
    messageId: 'm',
    text: children.map(spawn).join('\n'),
  });
};

const eventsOf = async (server: Server, id: string): Promise<readonly Logged[]> =>
  (await ask<{ events: readonly Logged[] }>(server, `/api/sessions/${id}/events`)).events;

const treeParentsOf = async (server: Server, root: string): Promise<readonly Shown[]> => {
  const { sessions } = await ask<{ sessions: readonly Shown[] }>(server, '/api/sessions');
  return sessions.filter((session) => session.root === root);
};

const answers = async (server: Server, id: string): Promise<readonly Logged[]> => {
  const isAnswer = ({ type, data }: Logged): boolean =>
    (type === 'tool:output' && data.name === 'session') ||
    (type === 'agent:error' && data.callId !== undefined);
  const events = await eventually(
    () => eventsOf(server, id),
    (logged) => logged.some(({ type }) => type === 'completion'),
    150_000,
  );
  expect(events.filter(({ type }) => type === 'completion')).toHaveLength(1);
  return events.filter(isAnswer);
};

test('a parent whose children wait for a person survives a power cut, and gets three results', async () => {
  const { begin, server, id } = await open({ approvals: 'ask' });
  let client = await connect(server, { sessionId: id });
  await client.untilType('system:ready');
  await say(server, id, (n) => `echo result ${n}`);
  for (const place of children.keys()) {
    const { data } = await client.untilType('tool:approval_required', place);
    client.send('tool:approval', { callId: data.callId, approved: true });
  }
  await client.until(
    () =>
      new Set(
        client.frames
          .filter(({ data, type }) => type === 'tool:approval_required' && data.name === 'execute_command')
          .map(({ sessionId }) => sessionId),
      ).size === 3,
    'three children that wait',
  );
  await server.kill();

  const after = await begin();
  client = await connect(after, { sessionId: id });
  // A request may come twice, the parent's own of before too: with the connection, and from the function that went on.
  for (const approved = new Set<string>(); approved.size < children.length; ) {
    const { data, sessionId } = await client.until(
      (frame) =>
        frame.type === 'tool:approval_required' &&
        frame.data.name === 'execute_command' &&
        !approved.has(frame.sessionId),
      'the request of another child',
    );
    approved.add(sessionId);
    client.send('tool:approval', { callId: data.callId, approved: true, sessionId });
  }
  const said = JSON.stringify(await answers(after, id));
  for (const n of children) expect(said).toContain(`result ${n}`);
  expect(await treeParentsOf(after, id)).toHaveLength(3);
});

test('after five power cuts each child was started and answered once: its result, or that it may have run (CH1)', async () => {
  const opened = await open({ approvals: 'auto' });
  let { server } = opened;
  const { begin, id } = opened;
  await say(server, id, (n) => `sleep 2; echo result ${n}`);
  for (const delayMs of [100, 400, 900, 1500, 2500]) {
    await sleep(delayMs);
    await server.kill();
    server = await begin();
  }
  const said = await answers(server, id);
  expect(said).toHaveLength(3);
  for (const { data } of said) expect(JSON.stringify(data)).toMatch(/result [123]|may have run in part/);
  expect(await treeParentsOf(server, id)).toHaveLength(3);
  const found = await treeParentsOf(server, id);
  expect(found.map(({ status }) => status)).toEqual(['idle', 'idle', 'idle']);
});
