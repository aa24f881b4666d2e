import { describe, expect, test } from 'vitest';
import { type Attempt, type Delivery, isAccepted, pauseAfter, rowAfter, settle } from './delivery-retry.ts';
import { retryForMs } from './limits.ts';
import type { WebhookId } from './webhook.ts';

const start = 1_000_000;
const waiting: Delivery = {
  webhook: 'w' as WebhookId,
  id: 'msg_1',
  type: 'turn_failed',
  at: start,
  body: '{}',
  attempts: 0,
  nextAt: start,
};
const refused = (at: number, change: Partial<Attempt> = {}): Attempt => ({
  outcome: { durationMs: 7, status: 500, error: 'it answered with HTTP 500' },
  at,
  firstPauseMs: 5000,
  enabledAt: 0,
  acceptedAt: undefined,
  ...change,
});

test('pauses begin with 5 s and double up to an hour (WH3)', () => {
  const seconds = Array.from({ length: 13 }, (_, index) => pauseAfter(index + 1, 5000) / 1000);
  expect(seconds).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600, 3600]);
  expect(pauseAfter(1_000_000, 5000)).toBe(3_600_000);
});

describe('after an attempt', () => {
  test('that was accepted it is delivered', () => {
    const met: Attempt = { ...refused(start + 3), outcome: { durationMs: 3, status: 204 } };
    const settled = settle({ ...waiting, attempts: 2, lastError: 'x', lastStatus: 500 }, met);
    expect(settled).toEqual({ state: 'delivered' });
    const row = rowAfter({ ...waiting, attempts: 2, lastError: 'x', lastStatus: 500 }, settled, met);
    expect(row).toEqual({
      id: 'msg_1',
      type: 'turn_failed',
      at: start,
      state: 'delivered',
      attempts: 3,
      lastAttemptAt: start + 3,
      lastStatus: 204,
    });
  });

  test('that was not it is pending, with the last answer', () => {
    const settled = settle(
      { ...waiting, lastStatus: 404 },
      { ...refused(start + 10), outcome: { durationMs: 1, error: 'down' } },
    );
    expect(settled).toEqual({
      state: 'waiting',
      next: {
        ...waiting,
        attempts: 1,
        firstAttemptAt: start + 10,
        lastAttemptAt: start + 10,
        nextAt: start + 5010,
        lastError: 'down',
      },
    });
  });

  test('a row does not contain the body', () => {
    const met = refused(start);
    const row = rowAfter(waiting, settle(waiting, met), met);
    expect(Object.keys(row).sort()).toEqual([
      'at',
      'attempts',
      'id',
      'lastAttemptAt',
      'lastError',
      'lastStatus',
      'nextAt',
      'state',
      'type',
    ]);
  });
});

describe('when its day is over (WH4)', () => {
  const old: Delivery = { ...waiting, attempts: 30, firstAttemptAt: start };
  const stateAt = (at: number, change: Partial<Attempt> = {}): string =>
    settle(old, refused(at, change)).state;

  test('the webhook has accepted nothing: it is exhausted', () => {
    expect(stateAt(start + retryForMs - 1)).toBe('waiting');
    expect(stateAt(start + retryForMs)).toBe('exhausted');
    expect(stateAt(start + retryForMs, { acceptedAt: start - 1 })).toBe('exhausted');
  });

  test('the webhook has accepted others: this one is given up', () => {
    expect(stateAt(start + retryForMs, { acceptedAt: start + 1 })).toBe('failed');
  });

  test('one that was enabled again has another day', () => {
    expect(stateAt(start + retryForMs, { enabledAt: start + 1 })).toBe('waiting');
  });

  test('every delivery is retried for a day and no longer: the whole schedule', () => {
    let delivery = waiting;
    let at = start;
    for (;;) {
      const settled = settle(delivery, refused(at));
      if (settled.state !== 'waiting') break;
      delivery = settled.next;
      at = delivery.nextAt;
    }
    expect(delivery.attempts).toBe(33);
    expect(at - start).toBeGreaterThanOrEqual(retryForMs);
    expect(at - start).toBeLessThan(retryForMs + 3_600_000);
  });
});

test('an answer is accepted or has a reason', () => {
  expect(isAccepted({ durationMs: 1, status: 200 })).toBe(true);
  expect(isAccepted({ durationMs: 1, status: 302, error: 'redirect' })).toBe(false);
});
