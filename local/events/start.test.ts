/** Rules that invoke a real function of the Lambda endpoint, which writes down what it got. */
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import type { Json } from '#shared/domain/json.ts';
import { start as startLambda } from '../lambda/start.ts';
import { start } from './start.ts';

/** A busy machine may take as long as this; what is waited for comes at once elsewhere. */
const patience = { timeout: 50_000 };

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of opened.splice(0).reverse()) await stop();
});

const open = async (everyMs: number, rule: { readonly input?: Json } = {}) => {
  const file = join(await mkdtemp(join(tmpdir(), 'sallyport-events-')), 'events');
  const lambda = await startLambda({ mode: { kind: 'shared' }, log: () => undefined });
  opened.push(lambda.stop);
  lambda.deploy(
    ['janitor', 'task-events'].map((name) => ({
      name: `sallyport-${name}`,
      entry: join(import.meta.dirname, 'fixtures', 'record', 'handler.ts'),
      environment: { EVENTS_FILE: file },
      timeoutMs: 5000,
      memoryMb: 128,
    })),
  );
  const events = await start({
    functions: lambda,
    rules: [{ name: 'sweep', everyMs, functionName: 'sallyport-janitor', ...rule }],
    taskStateFunction: 'sallyport-task-events',
  });
  opened.push(events.stop);
  const seen = async () =>
    (await readFile(file, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  return { events, seen };
};

test('A28: a timed rule fires at the start with the event of a schedule', async () => {
  const { events, seen } = await open(3_600_000);
  events.fire();
  const [event] = await vi.waitFor(seen, patience);
  expect(event).toEqual({
    version: '0',
    id: expect.any(String),
    account: '000000000000',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    region: 'us-east-1',
    'detail-type': 'Scheduled Event',
    source: 'aws.events',
    resources: ['arn:aws:events:us-east-1:000000000000:rule/sweep'],
    detail: {},
  });
});

test('a timed rule fires again', async () => {
  const { events, seen } = await open(20);
  events.fire();
  await vi.waitFor(async () => expect((await seen()).length).toBeGreaterThan(2), patience);
});

test('a timed rule with an input sends exactly that', async () => {
  const { events, seen } = await open(3_600_000, { input: { sweep: 'orphans' } });
  events.fire();
  expect(await vi.waitFor(seen, patience)).toEqual([{ sweep: 'orphans' }]);
});

test('an input of null is an input', async () => {
  const { events, seen } = await open(3_600_000, { input: null });
  events.fire();
  expect(await vi.waitFor(seen, patience)).toEqual([null]);
});

test('A28: the state of a task reaches its function, also if it changed before the functions started', async () => {
  const { events, seen } = await open(3_600_000);
  events.taskStateChanged({ taskArn: 'arn:early' });
  events.fire();
  events.taskStateChanged({ taskArn: 'arn:task', lastStatus: 'RUNNING', version: 3 });
  const tasks = async () => {
    const all = (await seen()).filter((event) => event.source === 'aws.ecs');
    expect(all).toHaveLength(2);
    return all.sort((a, b) => a.detail.taskArn.localeCompare(b.detail.taskArn));
  };
  const [early, event] = await vi.waitFor(tasks, patience);
  expect(early.detail).toEqual({ taskArn: 'arn:early' });
  expect(event).toMatchObject({
    'detail-type': 'ECS Task State Change',
    source: 'aws.ecs',
    resources: ['arn:task'],
    detail: { taskArn: 'arn:task', lastStatus: 'RUNNING', version: 3 },
  });
});

const openSlow = async (rule: { readonly overlaps?: true } = {}) => {
  vi.useFakeTimers();
  opened.push(async () => void vi.useRealTimers());
  const ends: (() => void)[] = [];
  const functions = {
    invokeLater: () => undefined,
    invokeToEnd: () => new Promise<void>((resolve) => ends.push(resolve)),
  };
  const rules = [{ name: 'sweep', everyMs: 1000, functionName: 'sallyport-janitor', ...rule }];
  const events = await start({ functions, rules, taskStateFunction: 'sallyport-task-events' });
  opened.push(events.stop);
  events.fire();
  return ends;
};

test('no run of a timed rule begins before the last one has ended, and a beat that came meanwhile is not lost', async () => {
  const ends = await openSlow();
  await vi.advanceTimersByTimeAsync(5500);
  expect(ends).toHaveLength(1);
  ends[0]?.();
  await vi.advanceTimersByTimeAsync(0);
  expect(ends).toHaveLength(2);
  ends[1]?.();
  await vi.advanceTimersByTimeAsync(0);
  expect(ends).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(500);
  expect(ends).toHaveLength(3);
});

test('a rule whose runs may overlap begins each at its time', async () => {
  const ends = await openSlow({ overlaps: true });
  await vi.advanceTimersByTimeAsync(2500);
  expect(ends).toHaveLength(3);
});
