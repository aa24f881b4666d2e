/** One id follows a message from its door through every function into the sandbox, and no other message's lines carry it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeSession, openAgent } from './agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import { type Line, linesOf } from './observed.ts';
import { connect } from './socket-client.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
});
afterAll(() => cloud.stop());

/** Name for lines without a service: a sandbox's server is no function. */
const sandbox = 'the sandbox itself';

const idOf = (line: Line): string => String(line['correlation_id'] ?? '');
const serviceOf = (line: Line): string => String(line['service'] ?? sandbox);

const lineOf = (event: string, about: Line): Line | undefined =>
  linesOf(cloud).find(
    (line) => line['event'] === event && Object.entries(about).every(([name, value]) => line[name] === value),
  );

/** Services that logged under the id. */
const saidBy = (id: string): readonly string[] => [
  ...new Set(
    linesOf(cloud)
      .filter((line) => idOf(line) === id)
      .map(serviceOf),
  ),
];

const acceptedUnder = async (messageId: string): Promise<string> => {
  const accepted = await eventually(
    () => Promise.resolve(lineOf('message_accepted', { messageId })),
    (line) => line !== undefined,
  );
  return idOf(accepted ?? {});
};

/** Lines of a worker arrive a moment after what they tell of. */
const untilSaidBy = (id: string, services: readonly string[]): Promise<readonly string[]> =>
  eventually(
    () => Promise.resolve(saidBy(id)),
    (said) => services.every((service) => said.includes(service)),
  );

test('a message on a socket: socket, turn, link and the sandbox’s own log have its id', async () => {
  const agent = await openAgent(cloud);
  const messageId = crypto.randomUUID();
  agent.client.send('message', { text: '$ echo followed', messageId });
  await agent.client.untilType('completion');
  const id = await acceptedUnder(messageId);
  expect(id).toMatch(/\S{8}/);
  const door = ['socket', 'turn', 'sandbox-link', sandbox];
  expect(await untilSaidBy(id, door)).toEqual(expect.arrayContaining(door));
  const called = linesOf(cloud).find(
    (line) =>
      line['message'] === 'tool call ended' && idOf(line) === id && line['tool'] === 'execute_command',
  );
  expect(called).toBeDefined();
  const answered = linesOf(cloud).filter(
    (line) => idOf(line) === id && line['event'] === 'sandbox_answered' && line['route'] === 'calls',
  );
  expect(answered.length).toBeGreaterThan(0);
  const ended = await eventually(
    () => Promise.resolve(lineOf('turn_ended', { messageId })),
    (line) => line !== undefined,
  );
  expect(ended).toMatchObject({ correlation_id: id, stopReason: 'end_turn', sessionId: agent.id });
  await agent.close();
});

test('a message over REST: its request id is the correlation id, and the answer names it', async () => {
  const { id: session } = await makeSession(cloud, { approvals: 'auto', flavor: 'micro' });
  const messageId = crypto.randomUUID();
  const response = await cloud.request(`/api/sessions/${session}/messages`, {
    method: 'POST',
    body: JSON.stringify({ text: '$ echo by rest', messageId }),
  });
  const requestId = response.headers.get('x-request-id') ?? '';
  expect(await acceptedUnder(messageId)).toBe(requestId);
  const door = ['api', 'turn', 'sandbox-link', sandbox];
  expect(await untilSaidBy(requestId, door)).toEqual(expect.arrayContaining(door));
});

test('a child’s work for a message has the id of that message', async () => {
  const agent = await openAgent(cloud);
  const prompt = { action: 'spawn', prompt: '$ echo by a child' };
  const messageId = crypto.randomUUID();
  agent.client.send('message', { text: `call session ${JSON.stringify(prompt)}`, messageId });
  await agent.client.until(
    ({ type, seq }) => type === 'completion' && seq !== null,
    'a completion of the parent',
  );
  const id = await acceptedUnder(messageId);
  const ended = await eventually(
    () =>
      Promise.resolve(linesOf(cloud).filter((line) => line['event'] === 'turn_ended' && idOf(line) === id)),
    (lines) => lines.length === 2,
  );
  expect(new Set(ended.map(({ sessionId }) => sessionId)).size).toBe(2);
  const door = ['socket', 'turn', 'sandbox-link', sandbox];
  expect(await untilSaidBy(id, door)).toEqual(expect.arrayContaining(door));
  await agent.close();
});

test('a call over MCP: its request id is the id in the sandbox', async () => {
  const call = { name: 'execute_command', arguments: { command: 'echo by mcp', flavor: 'micro' } };
  const response = await cloud.request('/mcp', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }),
  });
  expect(await response.text()).toContain('by mcp');
  const door = ['mcp', 'sandbox-link', sandbox];
  const said = await untilSaidBy(response.headers.get('x-request-id') ?? '', door);
  expect(said).toEqual(expect.arrayContaining(door));
});

test('a scheduled run: the schedules function and the turn have one id', async () => {
  const post = (body: object): RequestInit => ({ method: 'POST', body: JSON.stringify(body) });
  const { id: projectId } = await cloud.ask<{ id: string }>(
    '/api/projects',
    post({ name: 'p', approvals: 'auto' }),
  );
  const targets = [{ projectId }];
  const schedule = { name: 's', cronExpr: '0 0 1 1 *', prompt: '$ echo by schedule', targets };
  const { id } = await cloud.ask<{ id: string }>('/api/schedules', post(schedule));
  const earlier = linesOf(cloud).length;
  await cloud.ask(`/api/schedules/${id}/trigger`, post({}));
  const accepted = await eventually(
    () =>
      Promise.resolve(
        linesOf(cloud)
          .slice(earlier)
          .find((line) => line['event'] === 'message_accepted' && serviceOf(line) === 'schedules'),
      ),
    (line) => line !== undefined,
    20_000,
  );
  const door = ['schedules', 'turn', 'sandbox-link', sandbox];
  expect(await untilSaidBy(idOf(accepted ?? {}), door)).toEqual(expect.arrayContaining(door));
});

test('after an approval the turn continues under the message’s id', async () => {
  const { id: session } = await makeSession(cloud, { flavor: 'micro' });
  const client = await connect(cloud, { sessionId: session });
  await client.untilType('system:ready');
  const messageId = crypto.randomUUID();
  client.send('message', { text: '$ echo approved', messageId });
  const { data } = await client.untilType('tool:approval_required');
  client.send('tool:approval', { callId: data.callId, approved: true });
  await client.untilType('completion');
  const id = await acceptedUnder(messageId);
  const decided = await eventually(
    () => Promise.resolve(lineOf('approval_decided', { sessionId: session })),
    (line) => line !== undefined,
  );
  expect(idOf(decided ?? {})).not.toBe(id);
  const calls = linesOf(cloud).filter((line) => line['message'] === 'tool call ended' && idOf(line) === id);
  expect(calls).toHaveLength(1);
  await client.close();
});

test('queued messages each have their own id', async () => {
  const agent = await openAgent(cloud);
  const [first, second] = [crypto.randomUUID(), crypto.randomUUID()];
  agent.client.send('message', { text: '$ sleep 1; echo one', messageId: first });
  agent.client.send('message', { text: '$ echo two', messageId: second });
  await agent.client.untilType('completion', 1);
  const [one, two] = [await acceptedUnder(first), await acceptedUnder(second)];
  expect(one).not.toBe(two);
  for (const [messageId, id] of [
    [first, one],
    [second, two],
  ]) {
    const ended = await eventually(
      () => Promise.resolve(lineOf('turn_ended', { messageId })),
      (line) => line !== undefined,
    );
    expect(ended).toMatchObject({ correlation_id: id });
    const calls = linesOf(cloud).filter((line) => line['message'] === 'tool call ended' && idOf(line) === id);
    expect(calls).toHaveLength(1);
  }
  await agent.close();
});

test('a refused request is found by the id that its error names', async () => {
  const response = await cloud.request('/api/sessions/00000000-0000-4000-8000-000000000000');
  const { error } = (await response.json()) as { error: { requestId: string; code: string } };
  const refused = await eventually(
    () => Promise.resolve(lineOf('request_refused', { correlation_id: error.requestId })),
    (line) => line !== undefined,
  );
  expect(refused).toMatchObject({ service: 'api', code: 'session_not_found', status: 404 });
});
