import { expect, test } from 'vitest';
import { createSSRApp } from 'vue';
import { renderToString } from 'vue/server-renderer';
import ProviderCard, { type ProviderFacts } from './provider-card.vue';

const shown = async (provider: ProviderFacts['provider']): Promise<string> => {
  const facts: ProviderFacts = { provider, state: 'no-key', models: [], defaults: {} };
  return (await renderToString(createSSRApp(ProviderCard, { facts, isChosen: false }))).replaceAll(
    /<[^>]*>/g,
    '',
  );
};

test('a provider that is not set up says what sets it up: Bedrock has no key whose secret could be named', async () => {
  expect(await shown('openai')).toMatch(/sets OPENAI_API_KEY .* in\s+providerKeyArns and deploys/s);
  const bedrock = await shown('bedrock');
  expect(bedrock).toContain('LLM_PROVIDER=bedrock');
  expect(bedrock).not.toContain('providerKeyArns');
});
