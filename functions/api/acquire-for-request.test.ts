import { expect, test } from 'vitest';
import { answerSilenceMsMax, sandboxWaitMsMax } from '#shared/domain/limits.ts';
import { openingFor } from './acquire-for-request.ts';

/** CloudFront's limit for the time between two bytes of an answer, as infra/constructs/distribution.ts sets it. */
const proxySilenceMs = 60_000;

test('a request waits for its sandbox for less than a proxy waits for the request', () => {
  const { waitMs } = openingFor({ lifetimes: {} as never });
  expect(waitMs).toBe(answerSilenceMsMax);
  expect(waitMs).toBeLessThanOrEqual(proxySilenceMs - 10_000);
  expect(waitMs).toBeLessThan(sandboxWaitMsMax);
});
