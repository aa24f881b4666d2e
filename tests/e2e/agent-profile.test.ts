/** An agent as its project wants it, and a provider that fails it, over the wire of Anthropic. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeSession } from './agent.ts';
import { type AnthropicServer, openAnthropicServer } from './anthropic-server.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from './embedded-cloud.ts';
import { connect } from './socket-client.ts';

let cloud: EmbeddedCloud;
let model: AnthropicServer;
beforeAll(async () => {
  model = await openAnthropicServer();
  const variables = { ANTHROPIC_API_KEY: 'a-key', ANTHROPIC_BASE_URL: model.url, LLM_PROVIDER: 'anthropic' };
  cloud = await openEmbeddedCloud({ variables });
});
afterAll(async () => {
  await cloud.stop();
  model.close();
});
beforeEach(() => {
  model.script.length = 0;
  model.asked.length = 0;
});

type Asked = {
  readonly model: string;
  readonly system: unknown;
  readonly tools: readonly { readonly name: string }[];
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
};
const asked = () => model.asked as readonly Asked[];

const say = async (sessionId: string, text = 'hello') => {
  const client = await connect(cloud, { sessionId });
  await client.untilType('system:ready');
  client.send('message', { text });
  const completion = await client.untilType('completion');
  await client.close();
  return { completion: completion.data, frames: client.frames };
};

const reviewer = {
  ...{ name: 'reviewer', instructions: 'Say what is wrong.', model: 'claude-of-the-reviewer' },
  ...{ tools: ['read_file', 'session'], approvals: 'auto' },
} as const;
const makeProject = () =>
  cloud.ask<{ id: string; agents: unknown }>('/api/projects', {
    method: 'POST',
    body: JSON.stringify({ name: 'reviews', instructions: 'Be brief.', agents: [reviewer] }),
  });

describe('instructions', () => {
  test('of the project, its agent and the session reach the model in this order, and a child too', async () => {
    const project = await makeProject();
    expect(project).toMatchObject({ instructions: 'Be brief.', agents: [reviewer] });
    const made = await makeSession(cloud, {
      ...{ project: project.id, agent: 'reviewer', instructions: 'In French.', allowedTools: ['session'] },
    });
    expect(made).toMatchObject({ agent: 'reviewer', model: reviewer.model, approvals: 'auto' });
    const input = { action: 'spawn', prompt: 'look at it', wait: true };
    model.script.push([{ id: 'call-1', name: 'session', input }]);
    await say(made.id);
    const whole = JSON.stringify('Be brief.\n\nSay what is wrong.\n\nIn French.').slice(1, -1);
    const systems = asked().map(({ system }) => JSON.stringify(system));
    expect(systems.map((system) => system.includes(whole))).toEqual([true, true, true]);
    expect(asked().map(({ tools }) => tools.map(({ name }) => name))).toEqual([
      ['session'],
      ['session'],
      ['session'],
    ]);
    expect(new Set(asked().map((request) => request.model))).toEqual(new Set([reviewer.model]));
  });

  test('of a project are shown whole, but in lists, and are removed by null', async () => {
    const { id } = await makeProject();
    const path = `/api/projects/${id}`;
    const { projects } = await cloud.ask<{ projects: readonly { id: string; agents?: unknown }[] }>(
      '/api/projects',
    );
    const { instructions: _, ...listed } = reviewer;
    const found = projects.find((project) => project.id === id);
    expect(found).toMatchObject({ agents: [listed] });
    expect(JSON.stringify(found)).not.toContain('instructions');
    await cloud.ask(path, { method: 'PATCH', body: '{"instructions":null,"agents":null}' });
    expect(Object.keys(await cloud.ask<object>(path))).not.toContain('agents');
  });

  test.each([
    [{ agent: 'nobody' }, 'agent: the project has no agents'],
    [{ instructions: 'é'.repeat(16_385) }, 'instructions'],
  ])('that cannot be had are refused: %#', async (wish, message) => {
    const answer = await cloud.request('/api/sessions', { method: 'POST', body: JSON.stringify(wish) });
    const { error } = (await answer.json()) as { error: { code: string; message: string } };
    expect([answer.status, error.code]).toEqual([400, 'invalid_request']);
    expect(error.message).toContain(message);
  });
});

describe('a provider that is overloaded', () => {
  test('is asked again when it says, which subscribers see', async () => {
    const { id } = await makeSession(cloud, {});
    model.script.push({ status: 529, retryAfter: '1' });
    const { completion, frames } = await say(id);
    expect(completion).toMatchObject({ stopReason: 'end_turn', text: 'done' });
    const waits = frames.filter(({ data }) => data['kind'] === 'model_retry');
    expect(waits.map(({ seq, data }) => [seq, data['provider'], data['attempt']])).toEqual([
      [null, 'anthropic', 1],
    ]);
    expect(frames.some(({ type }) => type === 'agent:error')).toBe(false);
  });

  test('in the middle of its answer leaves what it has said, to the person and to the model', async () => {
    const { id } = await makeSession(cloud, {});
    model.script.push({ text: 'The answer is' });
    const { completion, frames } = await say(id);
    expect(completion).toMatchObject({ stopReason: 'error' });
    const shown = frames.filter(({ type }) => type === 'message' || type === 'agent:error').slice(1);
    expect(shown.map(({ data }) => data)).toEqual([
      {
        ...{ messageId: expect.any(String), role: 'assistant', text: 'The answer is', partial: true },
      },
      expect.objectContaining({ code: 'provider_overloaded', provider: 'anthropic', attempt: 1 }),
    ]);
    await say(id, 'go on');
    const [, again] = asked();
    expect(again?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(JSON.stringify(again?.messages[1])).toContain('The answer is');
  });

  test('for longer than a minute fails the turn, and the error says when it may answer', async () => {
    const { id } = await makeSession(cloud, {});
    model.script.push({ status: 529, retryAfter: '3600' });
    const { frames } = await say(id);
    const failure = frames.find(({ type }) => type === 'agent:error');
    expect(failure?.data).toMatchObject({ provider: 'anthropic', attempt: 1, retryAt: expect.any(String) });
  });
});
