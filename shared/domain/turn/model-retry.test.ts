import { expect, test } from 'vitest';
import { modelWaitMs, modelWaitMsMax } from './model-retry.ts';

test('the pauses triple, and the fourth failure is final', () => {
  const waits = [1, 2, 3, 4].map((attempt) => modelWaitMs({ attempt, askedMs: undefined }));
  expect(waits).toEqual([500, 1500, 4500, undefined]);
});

test('a provider’s own pause is respected, up to a minute', () => {
  const asked = (askedMs: number, attempt = 1) => modelWaitMs({ attempt, askedMs });
  expect([asked(0), asked(7000, 3), asked(modelWaitMsMax)]).toEqual([0, 7000, modelWaitMsMax]);
  expect([asked(modelWaitMsMax + 1), asked(2, 4)]).toEqual([undefined, undefined]);
});
