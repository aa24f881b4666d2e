/**
 * Turns that an agent of the Agent Client Protocol carries, written with the protocol's own library: text, questions, model calls through the
 * broker, cancels and faults. Invariants RT1 to RT7.
 */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Logged, makeSession, type Shown, showSession } from '../agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from '../embedded-cloud.ts';
import { type ModelUpstream, openModelUpstream, upstreamUsage } from '../model-upstream.ts';
import { type Client, connect } from '../socket-client.ts';
import { acpAgent } from './acp-agent.ts';

const key = 'sk-of-the-deployment-alone';
const waitMsMax = 360_000;

let cloud: EmbeddedCloud;
let upstream: ModelUpstream;
let program: string;
beforeAll(async () => {
  upstream = await openModelUpstream();
  cloud = await openEmbeddedCloud({
    variables: {
      ...{ LLM_PROVIDER: 'anthropic', ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: upstream.url },
      TURN_LEASE_SECONDS: '10',
    },
    sweepMs: 1000,
  });
  program = await acpAgent();
});
afterAll(async () => {
  await cloud.stop();
  upstream.close();
});

const open = async (wish: object = {}): Promise<{ session: Shown; client: Client }> => {
  const session = await makeSession(cloud, {
    runtime: 'acp',
    model: 'claude-haiku-5-5',
    approvals: 'ask',
    ...wish,
  });
  const path = `/api/sessions/${session.id}`;
  const put = await cloud.request(`${path}/files/.local/bin/acp-agent`, { method: 'PUT', body: program });
  expect(put.status).toBeLessThan(300);
  const command = 'chmod +x .local/bin/acp-agent';
  await cloud.ask(`${path}/exec`, { method: 'POST', body: JSON.stringify({ command }) });
  const client = await connect(cloud, { sessionId: session.id });
  onTestFinished(() => client.close());
  await client.untilType('system:ready');
  return { session, client };
};
const textsOf = (client: Client): readonly unknown[] =>
  client.frames
    .filter(({ type, data }) => type === 'message' && data['role'] === 'assistant')
    .map(({ data }) => data['text']);
const outputOf = (client: Client): string =>
  JSON.stringify(client.frames.find(({ type }) => type === 'tool:output')?.data);
const decide = async (client: Client, decision: object): Promise<void> => {
  const { data } = await client.untilType('tool:approval_required');
  expect(data).toMatchObject({ name: 'execute', advisory: true });
  client.send('tool:approval', { callId: data['callId'], digest: data['digest'], ...decision });
};

test(
  'its text, its thoughts, its calls and its end are in the log, and its question is an advisory approval',
  async () => {
    const { client } = await open();
    client.send('message', { text: 'think Hm.\nsay I look around.\nask echo done; id -u\nsay The end.' });
    await decide(client, { approved: true });
    const { data } = await client.untilType('completion');
    expect(data).toMatchObject({ stopReason: 'end_turn', text: 'The end.' });
    expect(textsOf(client)).toEqual(['I look around.', 'The end.']);
    expect(outputOf(client)).toContain('done\\n10001');
    const asked = client.frames.find(({ type }) => type === 'tool:approval_required');
    expect(asked?.data['args']).toEqual({ command: 'echo done; id -u', title: 'Run echo done; id -u' });
    expect(client.frames.some(({ type, data: said }) => type === 'reasoning' && said['text'] === 'Hm.')).toBe(
      true,
    );
  },
  waitMsMax,
);

const repository: Readonly<Record<string, string>> = {
  'add.mjs': 'export const add = (a, b) => a - b;\n',
  'add.test.mjs':
    "import assert from 'node:assert';\nimport test from 'node:test';\nimport { add } from './add.mjs';\ntest('adds', () => assert.equal(add(2, 3), 5));\n",
};

test(
  'it mends a repository and runs its tests, although every function is killed in the middle',
  async () => {
    const { session } = await open();
    const path = `/api/sessions/${session.id}`;
    for (const [name, body] of Object.entries(repository))
      await cloud.request(`${path}/files/${name}`, { method: 'PUT', body });
    const post = (to: string, body: object) =>
      cloud.ask(`${path}/${to}`, { method: 'POST', body: JSON.stringify(body) });
    const text =
      'ask sed -i "s/a - b/a + b/" add.mjs\nask node --test\nask env; cat /proc/*/environ\nsay Mended.';
    await post('messages', { text });
    const logged = async (type: string, count: number): Promise<readonly Logged[]> => {
      const read = () => cloud.ask<{ readonly events: readonly Logged[] }>(`${path}/events`);
      const found = async () => (await read()).events.filter((event) => event.type === type);
      return eventually(found, ({ length }) => length >= count);
    };
    for (const count of [1, 2, 3]) {
      const asked = (await logged('tool:approval_required', count)).at(-1)?.data;
      await post(`approvals/${asked?.['callId']}`, { approved: true, digest: asked?.['digest'] });
      if (count === 1) await cloud.killFunctions();
    }
    const [completion] = await logged('completion', 1);
    expect(completion?.data).toMatchObject({ stopReason: 'end_turn', text: 'Mended.' });
    const outputs = (await logged('tool:output', 3)).map(({ data }) => JSON.stringify(data));
    expect([outputs.length, outputs[1]]).toEqual([3, expect.stringContaining('pass 1')]);
    expect(outputs.join()).not.toContain(key);
    expect(await (await cloud.request(`${path}/files/add.mjs`)).text()).toContain('a + b');
  },
  waitMsMax,
);

test(
  'a rejection is one for this call alone, and the agent goes on',
  async () => {
    const { client } = await open();
    client.send('message', { text: 'ask rm -rf made\nsay Over.' });
    await decide(client, { approved: false });
    await client.untilType('completion');
    expect(outputOf(client)).toContain('answered: no');
    expect(textsOf(client)).toEqual(['Over.']);
  },
  waitMsMax,
);

test(
  'its model is reached through the broker, counted once, and it has no key',
  async () => {
    const { client, session } = await open({ approvals: 'auto' });
    client.send('message', { text: 'model hello\nask env; cat /proc/*/environ 2>/dev/null' });
    await client.untilType('completion');
    expect(textsOf(client)).toEqual(['Hello world']);
    expect(upstream.asked.at(-1)).toMatchObject({ headers: { 'x-api-key': key } });
    expect(outputOf(client)).toContain('ANTHROPIC_BASE_URL');
    expect(outputOf(client)).not.toContain(key);
    const { usage, costUsd } = await showSession(cloud, session.id);
    expect(usage).toMatchObject({ inputTokens: upstreamUsage.input, outputTokens: upstreamUsage.output });
    expect(costUsd).toBeGreaterThan(0);
  },
  waitMsMax,
);

test(
  'a cancel stops it, and the next turn is in the same conversation',
  async () => {
    const { client } = await open();
    client.send('message', { text: 'say Working.\nask echo never' });
    await client.untilType('tool:approval_required');
    client.send('turn:cancel');
    expect((await client.untilType('completion')).data).toMatchObject({ stopReason: 'cancelled' });
    client.send('message', { text: 'recall' });
    const told = await client.until(
      ({ type, data }) => type === 'message' && String(data['text']).startsWith('I was told: '),
      'its memory',
    );
    expect(told.data['text']).toBe('I was told: say Working.\nask echo never / recall');
  },
  waitMsMax,
);

test(
  'an agent that dies ends its turn with a reason, and the next one says what it has forgotten',
  async () => {
    const { client } = await open();
    client.send('message', { text: 'die' });
    expect((await client.untilType('completion')).data).toMatchObject({ stopReason: 'error' });
    const errors = (): string =>
      client.frames
        .filter(({ type }) => type === 'agent:error')
        .map(({ data }) => data['message'])
        .join();
    expect(errors()).toContain('acp-agent ended (3): starting');
    client.send('message', { text: 'recall' });
    await client.untilType('completion', 1);
    expect(textsOf(client)).toEqual(['I was told: recall']);
    expect(errors()).toContain('the agent was restarted, and does not know what was said before');
  },
  waitMsMax,
);

test(
  'a sandbox without an agent says so',
  async () => {
    const { client, session } = await open();
    await cloud.request(`/api/sessions/${session.id}/files/.local/bin/acp-agent`, { method: 'DELETE' });
    client.send('message', { text: 'say Hello.' });
    await client.untilType('completion');
    const error = client.frames.find(({ type }) => type === 'agent:error');
    expect(error?.data['message']).toContain('acp-agent cannot be started in this sandbox');
  },
  waitMsMax,
);
