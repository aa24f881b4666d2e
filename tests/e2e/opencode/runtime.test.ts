/**
 * Turns that a program of the sandbox carries: OpenCode's wire, spoken by a small program in the workspace. Invariants RT1 to RT7.
 */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Logged, makeSession, type Shown, sandboxRecord } from '../agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from '../embedded-cloud.ts';
import { killServer } from '../sandbox-processes.ts';
import { type Client, connect } from '../socket-client.ts';

/** Of the deployment: nothing inside a sandbox may have it. */
const key = 'sk-of-the-deployment-alone';

let cloud: EmbeddedCloud;
let program: string;
beforeAll(async () => {
  cloud = await openEmbeddedCloud({
    variables: {
      LLM_PROVIDER: 'anthropic',
      ANTHROPIC_API_KEY: key,
      MAX_STEPS_PER_TURN: '12',
      TURN_LEASE_SECONDS: '10',
    },
    sweepMs: 1000,
  });
  program = await readFile(new URL('./fixtures/fake-opencode.mjs', import.meta.url), 'utf8');
});
afterAll(() => cloud.stop());

const open = async (wish: object = {}): Promise<{ session: Shown; client: Client }> => {
  const session = await makeSession(cloud, {
    ...{ flavor: 'micro', runtime: 'opencode', model: 'a-model', approvals: 'ask' },
    ...wish,
  });
  const files = `/api/sessions/${session.id}/files/.local/bin/opencode`;
  const put = await cloud.request(files, { method: 'PUT', body: program });
  expect(put.status).toBeLessThan(300);
  const made = await cloud.request(`/api/sessions/${session.id}/exec`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ command: 'chmod +x .local/bin/opencode' }),
  });
  expect(made.status).toBe(200);
  const client = await connect(cloud, { sessionId: session.id });
  onTestFinished(() => client.close());
  await client.untilType('system:ready');
  return { session, client };
};

const textsOf = (client: Client): readonly unknown[] =>
  client.frames
    .filter(({ type, data }) => type === 'message' && data['role'] === 'assistant')
    .map(({ data }) => data['text']);

test('a program carries a turn: its text, its calls and its end are in the log, and its question is an advisory approval', async () => {
  const { client, session } = await open();
  client.send('message', { text: 'say I look.\nask echo done > made.txt; cat made.txt\nsay The end.' });
  const { data } = await client.untilType('tool:approval_required');
  expect(data).toMatchObject({
    name: 'bash',
    advisory: true,
    args: { command: 'echo done > made.txt; cat made.txt' },
  });
  client.send('tool:approval', { callId: data['callId'], approved: true, digest: data['digest'] });
  const { data: completion } = await client.untilType('completion');
  expect(completion).toMatchObject({
    stopReason: 'end_turn',
    text: 'The end.',
    workspace: { savedAt: expect.any(String) },
  });
  expect(textsOf(client)).toEqual(['I look.', 'The end.']);
  const output = client.frames.find(({ type }) => type === 'tool:output');
  expect(output?.data).toMatchObject({ name: 'bash', content: [{ type: 'text', text: 'done\n' }] });
  const made = await cloud.request(`/api/sessions/${session.id}/files/made.txt`);
  expect(await made.text()).toBe('done\n');
});

/** Decides the call that waits, and waits for what the turn says next. */
const decide = async (client: Client, callId: unknown, decision: object): Promise<void> => {
  const asked = client.frames.find(
    ({ type, data }) => type === 'tool:approval_required' && data['callId'] === callId,
  );
  client.send('tool:approval', { callId, digest: asked?.data['digest'], ...decision });
};

test('questions at once wait one after the other, and a rejection reaches the program with its reason', async () => {
  const { client } = await open();
  client.send('message', { text: 'two echo one | echo two\nsay Over.' });
  const first = await client.untilType('tool:approval_required');
  await decide(client, first.data['callId'], { approved: false, reason: 'not this one' });
  const second = await client.until(
    ({ type, data }) => type === 'tool:approval_required' && data['callId'] !== first.data['callId'],
    'the second question',
  );
  await decide(client, second.data['callId'], { approved: true });
  await client.untilType('completion');
  const outputs = client.frames
    .filter(({ type }) => type === 'tool:output')
    .map(({ data }) => JSON.stringify(data));
  expect(outputs).toHaveLength(2);
  expect(outputs.join()).toContain('The user rejected this call: not this one');
  expect(client.frames.filter(({ type }) => type === 'tool:rejected')).toHaveLength(1);
});

test('functions that are killed lose and double nothing that the program says', async () => {
  const { client, session } = await open({ approvals: 'auto' });
  client.send('message', { text: 'count 60\nsay Over.' });
  // The log, not the socket: what is published by a function that dies is fetched by its clients.
  const logged = async (): Promise<readonly unknown[]> =>
    (await cloud.ask<{ events: readonly Logged[] }>(`/api/sessions/${session.id}/events`)).events
      .filter(({ type, data }) => type === 'message' && data['role'] === 'assistant')
      .map(({ data }) => data['text']);
  const until = (line: string) => eventually(logged, (texts) => texts.includes(line));
  for (const line of ['line 5', 'line 20', 'line 35']) {
    await until(line);
    await cloud.killFunctions();
  }
  const lines = Array.from({ length: 60 }, (_, index) => `line ${index + 1}`);
  expect(await until('Over.')).toEqual([...lines, 'Over.']);
}, 240_000);

test('a turn over its steps ends, and its program is stopped', async () => {
  const { client } = await open({ approvals: 'auto' });
  client.send('message', { text: 'steps 100000\nsay Never.' });
  const { data } = await client.untilType('completion');
  expect(data).toMatchObject({ stopReason: 'steps_exceeded' });
  client.send('message', { text: 'recall' });
  await client.until(
    ({ type, seq }) => type === 'completion' && seq !== null && seq > 0 && textsOf(client).length > 0,
    'the next',
  );
  expect(textsOf(client)).toEqual(['I was told: steps 100000\nsay Never. / recall']);
});

test('a cancel stops the program, and the next message finds it in the same conversation', async () => {
  const { client } = await open({ approvals: 'auto' });
  client.send('message', { text: 'say Working.\nhang' });
  await client.until(({ type, data }) => type === 'message' && data['text'] === 'Working.', 'its text');
  client.send('turn:cancel');
  const { data } = await client.untilType('completion');
  expect(data).toMatchObject({ stopReason: 'cancelled' });
  client.send('message', { text: 'recall' });
  await client.until(
    ({ type, data: said }) => type === 'message' && String(said['text']).startsWith('I was told: '),
    'its memory',
  );
});

test('a turn whose sandbox is lost goes on in the next one, and says so', async () => {
  const { client, session } = await open({ approvals: 'ask' });
  client.send('message', { text: 'ask echo again' });
  await client.untilType('tool:approval_required');
  killServer(cloud.home, (await sandboxRecord(cloud, session.workspace)).taskArn ?? '');
  const { data } = client.frames.find(({ type }) => type === 'tool:approval_required') ?? { data: {} };
  await decide(client, data['callId'], { approved: true });
  const again = await client.until(
    ({ type, data: asked }) => type === 'tool:approval_required' && asked['callId'] !== data['callId'],
    'the question once more',
  );
  await decide(client, again.data['callId'], { approved: true });
  await client.untilType('completion');
  const restarts = client.frames.filter(({ data: { kind } }) => kind === 'runtime_restarted');
  expect(restarts).toHaveLength(1);
});

test('a failure of the program ends the turn with its reason', async () => {
  const { client } = await open();
  client.send('message', { text: 'fail the model is away' });
  const { data } = await client.untilType('completion');
  expect(data).toMatchObject({ stopReason: 'error' });
  const error = client.frames.find(({ type }) => type === 'agent:error');
  expect(error?.data).toMatchObject({ message: 'the agent failed: the model is away' });
});

test('a sandbox without the program says so', async () => {
  const { client, session } = await open();
  await cloud.request(`/api/sessions/${session.id}/files/.local/bin/opencode`, { method: 'DELETE' });
  client.send('message', { text: 'say Hello.' });
  const { data } = await client.untilType('completion');
  expect(data).toMatchObject({ stopReason: 'error' });
  const error = client.frames.find(({ type }) => type === 'agent:error');
  expect(error?.data['message']).toContain('OpenCode cannot be started in this sandbox');
});

test('the arguments of such a call cannot be changed, and the program has no key', async () => {
  const { client } = await open();
  client.send('message', { text: 'ask env; cat /proc/*/environ 2>/dev/null | tr "\\0" "\\n"' });
  const { data } = await client.untilType('tool:approval_required');
  await decide(client, data['callId'], { approved: true, args: { command: 'true' } });
  const { data: refused } = await client.untilType('error');
  expect(JSON.stringify(refused)).toContain('with its own arguments');
  await decide(client, data['callId'], { approved: true });
  await client.untilType('completion');
  const output = client.frames.find(({ type }) => type === 'tool:output');
  expect(JSON.stringify(output?.data)).toContain('OPENCODE_SERVER_PASSWORD');
  expect(JSON.stringify(output?.data)).not.toContain(key);
});
