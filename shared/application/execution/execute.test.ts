/** One execution: what becomes of its result, its session and its errors when something beside the program fails. */

import { describe, expect, test } from 'vitest';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import { deploymentOwner, type Principal } from '../../domain/principal.ts';
import { AppError } from '../../errors.ts';
import type { ExecutionDeps } from '../deps.ts';
import { type Execution, execute } from './execute.ts';

const principal: Principal = { owner: deploymentOwner, scope: 'admin', tokenHash: 'hash' };
const lifetimes = { idleMs: 900_000, executionIdleMs: 900_000, historyMs: 86_400_000 };

const wanted = (change: Partial<Execution> = {}): Execution => ({
  principal,
  options: {},
  defaults: {
    ...{ provider: 'demo', flavor: 'small', template: 'python', lifetimes },
    slots: { executionMax: 1, agentMax: 1 },
  },
  wait: { waitSeconds: 0, evictIdle: false, correlationId: 'c' },
  tool: 'execute_code',
  argsFor: () => ({}),
  timeoutSeconds: 30,
  onProgress: () => undefined,
  onPhase: () => undefined,
  ...change,
});

const open = () => {
  const quiet = openQuietPorts();
  const run = (ports: Partial<ExecutionDeps> = {}, change: Partial<Execution> = {}) =>
    execute({ ...quiet.ports, ...ports }, wanted(change));
  const only = async () => {
    const { sessions } = await quiet.ports.sessions.list(deploymentOwner, { itemsMax: 10 });
    expect(sessions).toHaveLength(1);
    return sessions[0] ?? Promise.reject(new Error('no session was made'));
  };
  return { ...quiet, run, only };
};

const broken = () => Promise.reject(new Error('the table is throttled'));

describe('a result', () => {
  test('is answered even if recording its end fails', async () => {
    const { ports, run, warned } = open();
    const executed = await run({ sessions: { ...ports.sessions, endCall: broken } });
    expect(executed).toMatchObject({ sessionCreated: true, structured: { stdout: 'done' } });
    expect(warned).toEqual(['the end of a call was not recorded']);
  });

  test('of a first call costs this number of requests, and of the next one this', async () => {
    const { run, takeRequests } = open();
    const { session } = await run();
    takeRequests();
    await run({}, { sessionId: session.id });
    expect(takeRequests()).toEqual(['BatchGet', 'Update', 'Get', 'Update']);
  });
});

describe('a first call whose sandbox does not start', () => {
  const capacity = new AppError('sandbox_start_failed', 'ECS said no');
  const host = (quiet: ReturnType<typeof open>) => ({
    ...quiet.ports.host,
    start: () => Promise.reject(capacity),
  });

  test('deletes its session', async () => {
    const quiet = open();
    await expect(quiet.run({ host: host(quiet) })).rejects.toMatchObject({ code: 'sandbox_start_failed' });
    expect((await quiet.only()).status).toBe('stopped');
  });

  test('reports why, also when ending its session fails', async () => {
    const quiet = open();
    const sessions = { ...quiet.ports.sessions, end: broken };
    await expect(quiet.run({ host: host(quiet), sessions })).rejects.toMatchObject({
      code: 'sandbox_start_failed',
    });
    expect(quiet.warned).toEqual(['a sandbox did not start', 'a session without a sandbox was not ended']);
  });
});

describe('a first call that fails in its sandbox', () => {
  test.each([
    ['a refusal', new AppError('tool_outcome_unknown', 'the connection broke'), 'tool_outcome_unknown'],
    ['a fault of ours', new Error('a bug'), 'internal_error'],
  ])('keeps its session, and returns its id: %s', async (_what, error, code) => {
    const { run, only } = open();
    const failed = await run({ tools: { call: () => Promise.reject(error) } }).catch((told: unknown) => told);
    const { id, status } = await only();
    expect(failed).toMatchObject({ code, details: { facts: { sessionId: id } } });
    expect(status).toBe('ready');
  });
});

test('a cancelled caller whose sandbox still starts gets the cancellation, and leaves no session behind', async () => {
  const { ports, run, only } = open();
  const leaves = new AbortController();
  const host = {
    ...ports.host,
    start: async () => {
      leaves.abort(new Error('left'));
      return 'task';
    },
  };
  const wait = { waitSeconds: 0, evictIdle: false, correlationId: 'c', signal: leaves.signal };
  await expect(run({ host }, { wait })).rejects.toMatchObject({ code: 'conflict' });
  expect((await only()).status).toBe('stopped');
});

test('L5: a call counts as running from the creation of its session until it cannot be running any more', async () => {
  const { ports, run, clock } = open();
  const first = await run();
  let made = 0;
  let until = 0;
  const sessions = {
    ...ports.sessions,
    create: async (...given: Parameters<typeof ports.sessions.create>) => {
      made = clock.now;
      until = Math.max(...Object.values(given[0].runningCalls));
      if (clock.now < 1_050_000) return 'full' as const;
      await ports.sessions.end(first.session, { status: 'stopped', at: clock.now, dueAt: clock.now });
      return ports.sessions.create(...given);
    },
  };
  const waiting = { waitSeconds: 60, evictIdle: false, correlationId: 'c' };
  await run({ sessions }, { wait: waiting });
  expect(made).toBeGreaterThanOrEqual(1_050_000);
  // Its sandbox's start, its timeout, a silence, its save, and a minute.
  expect(until).toBe(made + 120_000 + 30_000 + 90_000 + 150_000 + 60_000);
});
