/** Failures in words for a person. */
import { expect, test } from 'vitest';
import { failureTitle } from './failure-text.ts';

test('a failure names its provider', () => {
  const title = failureTitle('the model provider refused the key', 'Anthropic');
  expect(title).toBe('Anthropic rejected the API key');
  expect(failureTitle('the connection to the model provider failed', 'OpenAI')).toBe(
    'the connection to OpenAI failed',
  );
});

test('one that is about something else, or of no provider, keeps the words of the server', () => {
  const unpaid = 'the account of this key has no credit left';
  expect(failureTitle(unpaid, 'Anthropic')).toBe(unpaid);
  expect(failureTitle('the model provider is overloaded', undefined)).toBe(
    'the model provider is overloaded',
  );
});
