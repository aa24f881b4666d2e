import { expect, test } from 'vitest';
import { decodeProvider } from './model.ts';

test.each([
  ['anthropic', 'anthropic'],
  ['claude', 'anthropic'],
  ['openai', 'openai'],
  ['chatgpt', 'openai'],
  ['gemini', 'gemini'],
  ['google', 'gemini'],
  ['demo', 'demo'],
  ['Claude', 'anthropic'],
  ['bedrock', 'bedrock'],
  ['mistral', undefined],
  ['', undefined],
  ['constructor', undefined],
  ['__proto__', undefined],
])('the provider %j is %j', (name, expected) => {
  expect(decodeProvider(name)).toBe(expected);
});
