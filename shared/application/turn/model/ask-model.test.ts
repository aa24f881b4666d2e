import { expect, test } from 'vitest';
import { AppError, type ErrorCode, errorRules } from '../../../errors.ts';
import { modelRetryMs } from './ask-model.ts';

const asked = (retryAfter: unknown, attempt = 1): number | undefined =>
  modelRetryMs(new AppError('provider_overloaded', 'busy', { context: { retryAfter } }), attempt);

test('the pauses triple, and the fourth failure is final', () => {
  const error = new AppError('provider_unavailable', 'down');
  expect([1, 2, 3, 4].map((attempt) => modelRetryMs(error, attempt))).toEqual([500, 1500, 4500, undefined]);
});

test('a provider’s own pause is respected, up to twenty seconds', () => {
  expect([asked(0), asked(2), asked('7', 3), asked(20)]).toEqual([0, 2000, 7000, 20_000]);
  expect([asked(20.5), asked(3600), asked(2, 4)]).toEqual([undefined, undefined, undefined]);
});

test('an invalid number of seconds is ignored', () => {
  expect([asked('soon'), asked(undefined), asked(-5)]).toEqual([500, 500, 500]);
});

test('only transient errors are retried', () => {
  const codes = Object.keys(errorRules) as ErrorCode[];
  const waited = codes.filter((code) => modelRetryMs(new AppError(code, ''), 1) !== undefined);
  expect(waited).toEqual(['provider_rate_limited', 'provider_overloaded', 'provider_unavailable']);
  expect(modelRetryMs(new Error('a bug of ours'), 1)).toBeUndefined();
});
