/** The models of a child: with a price, or the session's own (CH6), for an agent's tool and for a program of its sandbox. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { newSession, workspaceOf } from '../../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../../tests/simulation/quiet-ports.ts';
import type { ProviderName } from '../../../domain/model.ts';
import { messageFromSandbox } from '../../session/message-from-sandbox.ts';
import { refuseUnpriced } from './child-model.ts';

const modelPrices = { 'openai/ours-': { input: 1, output: 1 } };
const caller = { provider: 'openai', model: 'local-model' } as const;

test.each<[string, string | undefined]>([
  ['the default', undefined],
  ["the session's own", 'local-model'],
  ["the child's own", 'other-local-model'],
  ['one with a price', 'gpt-6.1-terra'],
  ["one with a price of the operator's", 'ours-large'],
])('%s is allowed', (_, model) => {
  const child = { ...caller, model: 'other-local-model' };
  expect(() => refuseUnpriced({ modelPrices }, { caller, child }, model)).not.toThrow();
});

test.each<[ProviderName, string]>([
  ['openai', 'gpt-4-of-old'],
  ['anthropic', 'ours-large'],
])('%s/%s has no price', (provider, model) => {
  const refused = () => refuseUnpriced({ modelPrices }, { caller: { ...caller, provider } }, model);
  expect(refused).toThrow(`model: ${model} has no price`);
});

test('the refusal names the models that are possible', () => {
  try {
    refuseUnpriced({ modelPrices }, { caller }, 'x');
    expect.unreachable();
  } catch (error) {
    const [suggestion] = (error as { details: { suggestions: string[] } }).details.suggestions;
    expect(suggestion).toBe('Leave it out, or use one of local-model, ours-, gpt-6.1-sol, gpt-6.1-terra.');
  }
});

test('a model of the demo costs nothing', () => {
  expect(() =>
    refuseUnpriced({ modelPrices: {} }, { caller: { provider: 'demo', model: 'demo' } }, 'large'),
  ).not.toThrow();
});

const program = async () => {
  const quiet = openQuietPorts();
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const ports = { ...quiet.ports, world: { ...quiet.ports.world, sha256 } };
  const parent = newSession(caller);
  await ports.sessions.create(parent, { workspace: workspaceOf(parent) });
  const options = {
    ...{
      workspace: 'shared' as const,
      limits: { recursionDepthMax: 3, agentsPerSessionMax: 5, costUsdMax: 1 },
    },
    lifetimes: { idleMs: 1000, executionIdleMs: 1000, historyMs: 1000, pausedMs: 1000, waitStopMs: 1000 },
  };
  const say = async (message: { readonly to?: string; readonly model?: string }) => {
    const session = (await ports.sessions.get(parent.id)) ?? parent;
    return messageFromSandbox(ports, session, { text: 'hello', ...options, ...message });
  };
  return { say };
};

test('a program starts and asks no child with a model without a price', async () => {
  const { say } = await program();
  await expect(say({ model: 'gpt-4-of-old' })).rejects.toMatchObject({ code: 'forbidden' });
  const { session: to } = await say({ model: 'gpt-6.1-sol' });
  await expect(say({ to, model: 'gpt-4-of-old' })).rejects.toMatchObject({ code: 'forbidden' });
  await expect(say({ to, model: 'local-model' })).resolves.toMatchObject({ session: to });
});
