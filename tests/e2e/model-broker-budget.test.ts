/** The model broker at its ends, black-box: a budget that is spent in the middle of an answer, and a relay that is lost in it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeSession, showSession } from './agent.ts';
import { brokerProgram } from './broker-program.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import { type ModelUpstream, openModelUpstream } from './model-upstream.ts';
import { type OutputEvent, openProcesses } from './process-client.ts';

const limitUsd = 0.05;
/** A cent for 1,000 tokens. */
const model = 'dear';

let cloud: EmbeddedCloud;
let upstream: ModelUpstream;
let id: string;
let file: string;
const processes = () => openProcesses(cloud, () => id);

beforeAll(async () => {
  upstream = await openModelUpstream();
  file = await brokerProgram();
  cloud = await openEmbeddedCloud({
    variables: {
      ...{ ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: upstream.url },
      ...{ OPENAI_API_KEY: 'k', OPENAI_BASE_URL: upstream.url },
      ...{ GEMINI_API_KEY: 'k', GOOGLE_GEMINI_BASE_URL: upstream.url },
      MODEL_PRICES: JSON.stringify({
        'anthropic/dear': { input: 0, output: 10 },
        'openai/dear': { input: 0, output: 10 },
        'gemini/dear': { input: 0, output: 10 },
      }),
    },
  });
});
afterAll(async () => {
  await cloud.stop();
  upstream.close();
});

const newSession = async (project?: string): Promise<string> => {
  const wish = { provider: 'anthropic', model, ...(project === undefined ? {} : { project }) };
  const { id } = await makeSession(cloud, wish);
  const path = `/api/sessions/${id}/files/ask.mjs`;
  expect((await cloud.request(path, { method: 'PUT', body: file })).ok).toBe(true);
  return id;
};
const newProject = () =>
  cloud.ask<{ readonly id: string }>('/api/projects', {
    method: 'POST',
    body: JSON.stringify({ name: 'poor', limits: { maxCostUsd: limitUsd } }),
  });
const ask = async (wire: string): Promise<string> => {
  const { body } = await processes().exec(`node ask.mjs ${wire} ${model}`, { timeoutSeconds: 300 });
  return `${body['stdout']}${body['stderr']}`;
};
const text = (events: readonly OutputEvent[]): string =>
  events.map(({ data }) => data['text'] ?? '').join('');

test.each(['anthropic', 'openai', 'gemini'])(
  'an answer of %s that would pass the budget ends, and the program is told why (BR2, BR3)',
  async (wire) => {
    id = await newSession((await newProject()).id);
    upstream.neverEnd();
    const left = upstream.left();
    const said = await ask(wire);
    expect(said).toContain('Hello world');
    expect(said).toContain('the budget of the session is spent: the answer ends here');
    await eventually(
      async () => upstream.left(),
      (now) => now === left + 1,
    );
    const { costUsd, usage } = await showSession(cloud, id);
    expect(costUsd).toBeGreaterThan(limitUsd);
    expect(costUsd).toBeLessThan(2 * limitUsd);
    expect(usage.outputTokens).toBeGreaterThan(0);
    const asked = upstream.asked.length;
    expect(await ask(wire)).toMatch(/ 402 .*the budget of the session is spent/);
    expect(upstream.asked).toHaveLength(asked);
  },
);

test('the turns of a session share its budget with its programs', async () => {
  const { id: project } = await newProject();
  id = await newSession(project);
  upstream.neverEnd();
  await ask('anthropic');
  const asked = upstream.asked.length;
  const send = { method: 'POST', body: JSON.stringify({ text: 'hello' }) };
  await cloud.ask(`/api/sessions/${id}/messages`, send);
  const { events } = await eventually(
    () => cloud.ask<{ events: readonly { type: string; data: object }[] }>(`/api/sessions/${id}/events`),
    (log) => log.events.some(({ type }) => type === 'completion'),
  );
  expect(events.find(({ type }) => type === 'completion')?.data).toMatchObject({
    stopReason: 'budget_exceeded',
  });
  expect(upstream.asked).toHaveLength(asked);
});

test('an answer whose relay is lost ends with an error that says so (BR3)', async () => {
  id = await newSession();
  upstream.hold();
  const process = await processes().start(`node ask.mjs anthropic ${model}`);
  await processes().output(process, '', (events) => text(events).includes('Hello '));
  await cloud.killFunctions();
  const whole = await eventually(
    async () => text(await processes().output(process)),
    (output) => output.includes('rror'),
  );
  expect(whole).toMatch(/the relay was (?:lost|handed over) while the connection was open/);
  upstream.go();
});
