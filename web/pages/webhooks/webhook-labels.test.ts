import { expect, test } from 'vitest';
import { answerLabel, secretAdvice, testLabel, urlProblem } from './webhook-labels.ts';

const delivery = {
  id: 'd',
  type: 'turn_failed' as const,
  state: 'waiting' as const,
  attempts: 1,
  createdAt: '2026-11-21T00:00:00.000Z',
};

test.each([
  [{ attempts: 0 }, 'not sent yet'],
  [{ lastStatus: 200 }, 'HTTP 200 · 1 attempt'],
  [{ attempts: 3, lastStatus: 500, lastError: 'it answered with HTTP 500' }, 'HTTP 500 · 3 attempts'],
  [
    { lastStatus: 302, lastError: 'it answered with HTTP 302: redirects are not followed' },
    'HTTP 302 · it answered with HTTP 302: redirects are not followed · 1 attempt',
  ],
  [{ lastError: 'refused' }, 'no response · refused · 1 attempt'],
])('the answer to a delivery of %j', (fields, message) => {
  expect(answerLabel({ ...delivery, ...fields })).toBe(message);
});

test.each([
  [{ status: 204 }, 'HTTP 204 after 12 ms'],
  [{ status: 401, error: 'it answered with HTTP 401' }, 'HTTP 401 after 12 ms'],
  [{ error: 'it refused the connection' }, 'No response after 12 ms: it refused the connection'],
])('the outcome of a test %j', (fields, message) => {
  expect(testLabel({ durationMs: 12, ...fields })).toBe(message);
});

test('a refused signature comes with advice, another failure without', () => {
  expect(secretAdvice(401)).toContain('secret');
  expect([secretAdvice(500), secretAdvice(undefined)]).toEqual([undefined, undefined]);
});

test.each([
  ['', 'Enter a URL.'],
  ['ws://x', 'Enter a URL that starts with https:// or http://, without spaces.'],
  ['https://hooks.example.com/a', undefined],
])('the URL %j', (url, problem) => {
  expect(urlProblem(url)).toBe(problem);
});
