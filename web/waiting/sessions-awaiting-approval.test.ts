import { expect, test } from 'vitest';
import type { Session } from '#sdk/routes.ts';
import { oldestAskedMs } from './sessions-awaiting-approval.ts';

const asking = (...askedAt: readonly string[]) =>
  ({
    lastActiveAt: '2026-11-21T09:00:00.000Z',
    pendingApprovals: askedAt.map((at) => ({ askedAt: at })),
  }) as unknown as Session;

test('the oldest call is known by its request, not by the last use of its session', () => {
  const sessions = [asking('2026-11-21T08:00:00.000Z'), asking('2026-11-21T06:00:00.000Z'), asking()];
  expect(oldestAskedMs(sessions)).toBe(Date.parse('2026-11-21T06:00:00.000Z'));
  expect(oldestAskedMs([asking()])).toBeUndefined();
});
