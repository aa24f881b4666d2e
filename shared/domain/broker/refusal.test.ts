/** Refusals in the form of each provider's own errors. */
import { expect, test } from 'vitest';
import { refusalBody, refusalEvent } from './refusal.ts';

const spent = { status: 402, message: 'spent' };
const lost = { status: 502, message: 'lost' };

test('a body has the provider’s type for its status', () => {
  expect(refusalBody('anthropic', spent)).toEqual({
    type: 'error',
    error: { type: 'billing_error', message: 'spent' },
  });
  expect(refusalBody('anthropic', lost)).toMatchObject({ error: { type: 'api_error' } });
  expect(refusalBody('openai', spent)).toEqual({
    error: { message: 'spent', type: 'insufficient_quota', code: 'insufficient_quota', param: null },
  });
  expect(refusalBody('openai', { status: 403, message: 'no' })).toMatchObject({
    error: { type: 'invalid_request_error' },
  });
  expect(refusalBody('gemini', spent)).toEqual({
    error: { code: 402, message: 'spent', status: 'RESOURCE_EXHAUSTED' },
  });
  expect(refusalBody('gemini', { status: 409, message: 'no' })).toMatchObject({
    error: { status: 'INVALID_ARGUMENT' },
  });
});

test('a stream that is cut in the middle of a line ends with a whole event', () => {
  expect(refusalEvent('anthropic', lost)).toMatch(/^\n\nevent: error\ndata: \{"type":"error".*\}\n\n$/);
  expect(refusalEvent('openai', lost)).toMatch(/^\n\ndata: \{"error".*\}\n\n$/);
});
