import { expect, test } from 'vitest';
import { answerLabel, urlProblem } from './webhook-labels.ts';

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
  [{ attempts: 3, lastStatus: 500, lastError: 'not accepted' }, 'HTTP 500 · not accepted · 3 attempts'],
  [{ lastError: 'refused' }, 'no response · refused · 1 attempt'],
])('the answer to a delivery of %j', (fields, message) => {
  expect(answerLabel({ ...delivery, ...fields })).toBe(message);
});

test.each([
  ['', 'Enter a URL.'],
  ['ws://x', 'Enter a URL that starts with https:// or http://, without spaces.'],
  ['https://hooks.example.com/a', undefined],
])('the URL %j', (url, problem) => {
  expect(urlProblem(url)).toBe(problem);
});
