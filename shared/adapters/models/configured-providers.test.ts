import { expect, test } from 'vitest';
import { checkProvider, chooseProvider, configuredProviders, keyOf } from './configured-providers.ts';

test.each([
  [{}, 'demo'],
  [{ LLM_PROVIDER: 'claude' }, 'anthropic'],
  [{ LLM_PROVIDER: 'demo', ANTHROPIC_API_KEY: 'k' }, 'demo'],
  [{ LLM_PROVIDER: 'google', ANTHROPIC_API_KEY: 'k' }, 'gemini'],
  [{ ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k' }, 'anthropic'],
  [{ OPENAI_API_KEY: 'k', GEMINI_API_KEY: 'k' }, 'openai'],
  [{ GEMINI_API_KEY: 'k' }, 'gemini'],
  [{ ANTHROPIC_API_KEY: '' }, 'demo'],
  [{ ANTHROPIC_AUTH: 'iam', OPENAI_API_KEY: 'k' }, 'anthropic'],
  [{ ANTHROPIC_AUTH: 'key', OPENAI_API_KEY: 'k' }, 'openai'],
  [{ OPENAI_API: 'chat', OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1' }, 'openai'],
  [{ OPENAI_API: 'chat' }, 'demo'],
  [{ LLM_PROVIDER: 'bedrock', ANTHROPIC_API_KEY: 'k' }, 'bedrock'],
  [{ OPENAI_API: 'responses', OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1' }, 'demo'],
] as const)('%j means %s', (variables, provider) => {
  expect(chooseProvider(variables)).toBe(provider);
});

test.each([
  ['anthropic', 'ANTHROPIC_API_KEY is required'],
  ['openai', 'OPENAI_API_KEY is required'],
  ['gemini', 'GEMINI_API_KEY is required'],
] as const)('%s without a key is refused', (provider, message) => {
  expect(() => checkProvider({})(provider)).toThrow(
    expect.objectContaining({ code: 'provider_not_configured', message }),
  );
});

test('Bedrock is usable only where it was chosen: the functions may not call it otherwise', () => {
  expect(checkProvider({ LLM_PROVIDER: 'bedrock' })('bedrock')).toBeUndefined();
  expect(configuredProviders({ LLM_PROVIDER: 'bedrock' })).toEqual(['bedrock', 'demo']);
  expect(() => checkProvider({ ANTHROPIC_API_KEY: 'k' })('bedrock')).toThrow(
    expect.objectContaining({ code: 'provider_not_configured' }),
  );
});

test('a usable choice is accepted, the demo without any key', () => {
  expect(checkProvider({})('demo')).toBeUndefined();
  expect(checkProvider({ ANTHROPIC_API_KEY: 'k' })('anthropic')).toBeUndefined();
  expect(checkProvider({ ANTHROPIC_AUTH: 'iam' })('anthropic')).toBeUndefined();
  expect(checkProvider({ OPENAI_API_KEY: 'k' })('openai')).toBeUndefined();
  expect(checkProvider({ GEMINI_API_KEY: 'k' })('gemini')).toBeUndefined();
  expect(keyOf({ ANTHROPIC_API_KEY: 'k' }, 'anthropic')).toBe('k');
});

test('a provider with a key, or without need for one, is usable', () => {
  expect(configuredProviders({})).toEqual(['demo']);
  expect(configuredProviders({ OPENAI_API_KEY: 'k', GEMINI_API_KEY: '' })).toEqual(['openai', 'demo']);
  expect(configuredProviders({ ANTHROPIC_AUTH: 'iam' })).toEqual(['anthropic', 'demo']);
});
