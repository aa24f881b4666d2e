/**
 * The model broker, black-box: a program in a sandbox without a network asks models by the providers' own client libraries, with the keys
 * of the deployment, which the sandbox never has, and within its session's models.
 */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { makeSession, showSession } from './agent.ts';
import { brokerProgram } from './broker-program.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import { type ModelUpstream, openModelUpstream, upstreamUsage } from './model-upstream.ts';
import { type OutputEvent, openProcesses } from './process-client.ts';

const key = 'sk-real-key-of-the-deployment';

let cloud: EmbeddedCloud;
let upstream: ModelUpstream;
let id: string;
const processes = () => openProcesses(cloud, () => id);

beforeAll(async () => {
  upstream = await openModelUpstream();
  cloud = await openEmbeddedCloud({
    variables: {
      ...{ ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: upstream.url },
      ...{ OPENAI_API_KEY: key, OPENAI_BASE_URL: upstream.url },
      ...{ GEMINI_API_KEY: key, GOOGLE_GEMINI_BASE_URL: upstream.url },
    },
  });
  id = await newSession({ provider: 'anthropic', model: 'our-own-model' });
});
afterAll(async () => {
  await cloud.stop();
  upstream.close();
});

const newSession = async (wish: object): Promise<string> => {
  const { id } = await makeSession(cloud, wish);
  const path = `/api/sessions/${id}/files/ask.mjs`;
  const written = await cloud.request(path, { method: 'PUT', body: await brokerProgram() });
  expect(written.ok).toBe(true);
  return id;
};
const run = async (command: string, expected: object = {}): Promise<string> => {
  const { status, body } = await processes().exec(command);
  expect({ status, body }).toMatchObject({ status: 200, body: expected });
  return `${body['stdout']}${body['stderr']}`;
};
const ask = (wire: string, model: string): Promise<string> =>
  run(`node ask.mjs ${wire} ${model}`, { exitCode: 0 });

const text = (events: readonly OutputEvent[]): string =>
  events.map(({ data }) => data['text'] ?? '').join('');
const haiku = 'claude-haiku-5-5';
const answered = `Hello world\nused ${upstreamUsage.input}/${upstreamUsage.output}\n`;

test('each wire answers, and its provider is sent the real key (BR1)', async () => {
  const before = upstream.asked.length;
  expect(await ask('anthropic', haiku)).toBe(answered);
  expect(await ask('openai', 'gpt-6.1-sol')).toBe(answered);
  expect(await ask('chat', 'gpt-6.1-sol')).toBe(answered);
  expect(await ask('gemini', 'gemini-3.8-flash')).toBe(answered);
  const [anthropic, openai, chat, gemini] = upstream.asked.slice(before);
  expect(anthropic).toMatchObject({ url: '/v1/messages', headers: { 'x-api-key': key } });
  expect(openai).toMatchObject({ url: '/responses', headers: { authorization: `Bearer ${key}` } });
  expect(openai?.body).toMatchObject({ store: false, max_output_tokens: 8192 });
  expect(chat).toMatchObject({ url: '/chat/completions', headers: { authorization: `Bearer ${key}` } });
  expect(gemini).toMatchObject({ headers: { 'x-goog-api-key': key } });
  expect(gemini?.url).toMatch(/^\/v1(?:beta)?\/models\/gemini-3\.8-flash:streamGenerateContent\?alt=sse$/);
  expect(JSON.stringify(upstream.asked)).not.toContain('a key that is none');
});

test('pieces reach the program while the answer still goes on', async () => {
  upstream.hold();
  const process = await processes().start(`node ask.mjs anthropic ${haiku}`);
  const begun = await processes().output(process, '', (events) => text(events).includes('Hello '));
  expect(text(begun)).toBe('Hello ');
  upstream.go();
  expect(text(await processes().output(process))).toBe(answered);
});

test('the usage and its cost are the session’s', async () => {
  const before = await showSession(cloud, id);
  await ask('anthropic', haiku);
  const after = await showSession(cloud, id);
  expect(after.usage).toMatchObject({
    inputTokens: before.usage.inputTokens + upstreamUsage.input,
    outputTokens: before.usage.outputTokens + upstreamUsage.output,
  });
  const cost = (upstreamUsage.input * 0.1 + upstreamUsage.output * 0.5) / 1_000_000;
  expect(after.costUsd).toBeCloseTo(before.costUsd + cost, 9);
});

test('nothing inside holds the key', async () => {
  const everywhere = `{ env; cat /proc/*/environ /proc/*/cmdline; } 2>/dev/null | tr '\\0' '\\n'`;
  const seen = await run(everywhere);
  expect(seen).toContain('PATH=');
  expect(seen).not.toContain(key);
});

test('the session’s own model needs no price, any other does (BR4)', async () => {
  expect(await ask('anthropic', 'our-own-model')).toBe(answered);
  const before = upstream.asked.length;
  const sentence = 'is not available here: it has no price and is not the model of this session';
  expect(await ask('anthropic', 'unlisted')).toMatch(
    new RegExp(`PermissionDeniedError 403 .*"permission_error".*unlisted ${sentence}`),
  );
  expect(await ask('openai', 'unlisted')).toMatch(new RegExp(`PermissionDeniedError 403 .*${sentence}`));
  expect(await ask('gemini', 'unlisted')).toMatch(
    new RegExp(`ApiError 403 .*${sentence}.*PERMISSION_DENIED`),
  );
  expect(upstream.asked).toHaveLength(before);
});

const post = (path: string, body: object): string =>
  `curl -sS -w ' %{http_code}' http://127.0.0.1:19999${path} -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;

test('what is no call of a model is refused in the wire of its provider', async () => {
  const messages = [{ role: 'user', content: 'x' }];
  const fetching = {
    model: haiku,
    max_tokens: 9,
    messages,
    tools: [{ type: 'web_fetch_20250910', name: 'f' }],
  };
  expect(await run(post('/anthropic/v1/messages', fetching))).toMatch(
    /permission_error.*offer functions.* 403$/,
  );
  expect(await run(post('/anthropic/v1/files', {}))).toMatch(/not_found_error.* 404$/);
  expect(await run(post('/openai/v1/responses', { model: 'gpt-6.1-sol', background: true }))).toMatch(
    /invalid_request_error.* 403$/,
  );
  expect(await run(post('/mistral/v1/chat', {}))).toMatch(/models are under .* 404$/);
  expect(
    await run(`head -c 9000000 /dev/zero | curl -sS -T - -X POST http://127.0.0.1:19999/gemini/x`),
  ).toContain('the body has more than');
});

test('an execution session has no models', async () => {
  const agent = id;
  onTestFinished(() => {
    id = agent;
  });
  id = await newSession({ kind: 'execution' });
  expect(await ask('anthropic', haiku)).toContain('an execution session cannot call models');
});

test('a call whose program goes away is over, and counted', async () => {
  const before = (await showSession(cloud, id)).usage.inputTokens;
  upstream.hold();
  const left = upstream.left();
  const process = await processes().start(`node ask.mjs anthropic ${haiku}`);
  await processes().output(process, '', (events) => text(events).includes('Hello '));
  await processes().ask('DELETE', `/processes/${process}`);
  await eventually(
    async () => upstream.left(),
    (now) => now === left + 1,
  );
  await eventually(
    () => showSession(cloud, id),
    ({ usage }) => usage.inputTokens === before + upstreamUsage.input,
  );
  upstream.go();
});
