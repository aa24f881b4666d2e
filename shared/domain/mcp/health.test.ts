import { describe, expect, test } from 'vitest';
import {
  afterFailure,
  afterSuccess,
  dueAtOf,
  isBreakerOpen,
  mayConnect,
  renewedHealth,
  shownStatus,
  unknownHealth,
} from './health.ts';
import type { McpHealth, McpServer } from './server.ts';

const minute = { checkMs: 60_000 };
const healthy: McpHealth = {
  status: 'healthy',
  lastCheck: 5,
  lastSuccess: 5,
  consecutiveFailures: 0,
  attempts: 0,
};

/** Every failure comes at the moment the one before asked for. */
const failing = (from: McpHealth, count: number, times = minute) => {
  const steps: { status: string; failures: number; attempts: number; waitMs: number | undefined }[] = [];
  let health = from;
  let at = 1000;
  for (let index = 0; index < count; index += 1) {
    const next = afterFailure(health, { at, error: 'no answer' }, times);
    const { status, consecutiveFailures: failures, attempts } = next.health;
    const waitMs = next.nextCheckAt === undefined ? undefined : next.nextCheckAt - at;
    steps.push({ status, failures, attempts, waitMs });
    health = next.health;
    at = next.nextCheckAt ?? at;
  }
  return { steps, health };
};

describe('R1: a server that dies', () => {
  test('is unhealthy, then reconnecting with growing pauses, then disconnected for good', () => {
    expect(failing(healthy, 9).steps).toEqual([
      { status: 'unhealthy', failures: 1, attempts: 0, waitMs: 60_000 },
      { status: 'unhealthy', failures: 2, attempts: 0, waitMs: 60_000 },
      { status: 'reconnecting', failures: 3, attempts: 0, waitMs: 5000 },
      { status: 'reconnecting', failures: 4, attempts: 1, waitMs: 10_000 },
      { status: 'reconnecting', failures: 5, attempts: 2, waitMs: 20_000 },
      { status: 'reconnecting', failures: 6, attempts: 3, waitMs: 40_000 },
      { status: 'reconnecting', failures: 7, attempts: 4, waitMs: 80_000 },
      { status: 'disconnected', failures: 8, attempts: 5, waitMs: undefined },
      { status: 'disconnected', failures: 9, attempts: 5, waitMs: undefined },
    ]);
  });

  test('is retried at least as often as a healthy one is checked', () => {
    expect(failing(healthy, 4, { checkMs: 1000 }).steps.map(({ waitMs }) => waitMs)).toEqual([
      1000, 1000, 1000, 2000,
    ]);
  });

  test('is remembered with its last success and its error, cut', () => {
    const { health } = afterFailure(healthy, { at: 9, error: 'é'.repeat(400) }, minute);
    expect(health).toEqual({
      ...healthy,
      status: 'unhealthy',
      lastCheck: 9,
      consecutiveFailures: 1,
      error: 'é'.repeat(250),
    });
  });
});

test('the status of a refusal stays as long as its error', () => {
  const refused = afterFailure(
    healthy,
    { at: 9, error: 'it answered with HTTP 401', httpStatus: 401 },
    minute,
  );
  expect(refused.health).toMatchObject({ error: 'it answered with HTTP 401', httpStatus: 401 });
  expect(afterFailure(refused.health, { at: 10, error: 'no answer' }, minute).health).not.toHaveProperty(
    'httpStatus',
  );
  expect(afterSuccess({ at: 11 }, minute).health).not.toHaveProperty('httpStatus');
});

test('a new server is unhealthy after its first failure', () => {
  expect(failing(unknownHealth, 1).steps[0]?.status).toBe('unhealthy');
});

test.each([0, 1, 2, 3, 5, 8, 12])('R2: one success heals, after %i failures', (count) => {
  const { health } = failing(healthy, count);
  expect(isBreakerOpen(health)).toBe(count >= 3);
  expect(afterSuccess({ at: 7000 }, minute)).toEqual({
    health: { ...healthy, lastCheck: 7000, lastSuccess: 7000 },
    nextCheckAt: 67_000,
  });
});

test('a healthy server may have a note', () => {
  expect(afterSuccess({ at: 1, note: 'too many tools' }, minute).health).toEqual({
    status: 'healthy',
    lastCheck: 1,
    lastSuccess: 1,
    consecutiveFailures: 0,
    attempts: 0,
    error: 'too many tools',
  });
});

test('a reset server starts again and keeps its last success', () => {
  expect(renewedHealth(failing(healthy, 8).health)).toEqual({
    status: 'reconnecting',
    consecutiveFailures: 0,
    attempts: 0,
    lastCheck: 276_000,
    lastSuccess: 5,
  });
  expect(renewedHealth(unknownHealth)).toEqual(unknownHealth);
});

describe('R3: connecting without a request', () => {
  test('is free while the breaker is closed', () => {
    expect(mayConnect(unknownHealth, 0, minute)).toBe(true);
    expect(mayConnect(failing(healthy, 2).health, 0, minute)).toBe(true);
  });

  test('waits for its attempts while the breaker is open', () => {
    const { health } = failing(healthy, 3);
    const lastCheck = health.lastCheck ?? 0;
    expect(mayConnect(health, lastCheck + 4999, minute)).toBe(false);
    expect(mayConnect(health, lastCheck + 5000, minute)).toBe(true);
    const { lastCheck: _, ...unseen } = health;
    expect(mayConnect(unseen, 5000, minute)).toBe(true);
  });

  test('ends when the server is disconnected', () => {
    expect(mayConnect(failing(healthy, 8).health, 1e15, minute)).toBe(false);
  });
});

const server = (change: Partial<McpServer>) =>
  ({
    config: { transport: 'http', url: 'https://a' },
    isEnabled: true,
    health: healthy,
    ...change,
  }) as McpServer;

test('R4: only enabled servers on the network are checked', () => {
  expect(dueAtOf(server({}), 5)).toBe(5);
  expect(dueAtOf(server({}), undefined)).toBeUndefined();
  expect(dueAtOf(server({ isEnabled: false }), 5)).toBeUndefined();
  expect(dueAtOf(server({ config: { transport: 'stdio', command: 'x' } }), 5)).toBeUndefined();
});

test('a disabled server is shown as disabled, whatever its health', () => {
  expect(shownStatus(server({}))).toBe('healthy');
  expect(shownStatus(server({ isEnabled: false }))).toBe('disabled');
});
