/** Failures in words for a person. */
import { expect, test } from 'vitest';
import { failureTitle, lacksPackage, metRefusedHost } from './failure-text.ts';

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

test.each([
  ["Traceback (most recent call last):\nModuleNotFoundError: No module named 'sklearn'\nExit code: 1", true],
  ["Error: Cannot find module 'express'", true],
  ["Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'express' imported from /workspace/a.mjs", true],
  ['ERROR: No matching distribution found for six', true],
  ['npm error code EAI_AGAIN', true],
  ["Error: Cannot find module './own.js'", false],
  ['ImportError: cannot import name x', false],
  ['all is well', false],
])('whether %j tells of a missing package', (output, lacks) => {
  expect(lacksPackage(output)).toBe(lacks);
});

test.each([
  ["fatal: unable to access 'https://a.org/': CONNECT tunnel failed, response 403", true],
  [
    'OSError: Tunnel connection failed: 403 a.org:443 is not among the hosts that this sandbox may reach: …',
    true,
  ],
  ['curl: (22) The requested URL returned error: 403', false],
])('whether %j tells of a refused host', (output, isRefused) => {
  expect(metRefusedHost(output)).toBe(isRefused);
});
