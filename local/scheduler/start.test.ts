/** The endpoint, by the real client: what it takes, when it invokes, and what outlives a restart. */
import { mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateScheduleCommand,
  type CreateScheduleCommandInput,
  DeleteScheduleCommand,
  GetScheduleCommand,
  ListSchedulesCommand,
  SchedulerClient,
  UpdateScheduleCommand,
} from '@aws-sdk/client-scheduler';
import { afterEach, expect, test, vi } from 'vitest';
import { makeScheduler } from '#shared/adapters/aws/event-bridge-scheduler.ts';
import type { ScheduleId } from '#shared/domain/schedule/schedule.ts';
import { type SchedulerOptions, start } from './start.ts';

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** A busy machine may take as long as this. */
const patience = { timeout: 50_000 };
const functionArn = 'arn:aws:lambda:us-east-1:000000000000:function:sallyport-schedules';
const roleArn = 'arn:aws:iam::000000000000:role/x';
const begin = Date.parse('2026-11-21T10:00:00Z');
const minute = 60_000;

const makeFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-scheduler-'));
  opened.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

const open = async (options: Partial<SchedulerOptions> = {}) => {
  const clock = { now: begin };
  const invoked: string[] = [];
  const endpoint = await start({
    folder: options.folder ?? (await makeFolder()),
    functions: { invokeLater: (name, payload) => void invoked.push(`${name} ${payload}`) },
    now: () => clock.now,
    tickMs: 5,
    retryMs: 1000,
    ...options,
  });
  const client = new SchedulerClient({
    endpoint: endpoint.url,
    region: 'us-east-1',
    credentials: endpoint.credentials,
    maxAttempts: 1,
  });
  opened.push(endpoint.stop, () => client.destroy());
  return { ...endpoint, client, clock, invoked };
};

const wish = (change: Partial<CreateScheduleCommandInput> = {}): CreateScheduleCommandInput => ({
  Name: 'one',
  GroupName: 'g',
  ScheduleExpression: 'at(2026-11-21T10:01:00)',
  ScheduleExpressionTimezone: 'UTC',
  FlexibleTimeWindow: { Mode: 'OFF' },
  ActionAfterCompletion: 'DELETE',
  Target: { Arn: functionArn, RoleArn: roleArn, Input: '{"a":1}' },
  ...change,
});
const name = { Name: 'one', GroupName: 'g' };
const ticks = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));

test('A29: a one-time schedule invokes its target at its moment, once, and is deleted', async () => {
  const { client, clock, invoked, fire } = await open();
  fire();
  await client.send(new CreateScheduleCommand(wish()));
  expect(await client.send(new GetScheduleCommand(name))).toMatchObject({
    Arn: 'arn:aws:scheduler:us-east-1:000000000000:schedule/g/one',
    ScheduleExpression: 'at(2026-11-21T10:01:00)',
    CreationDate: new Date(begin),
    State: 'ENABLED',
    Target: { Input: '{"a":1}' },
  });
  clock.now = begin + minute - 1;
  await ticks();
  expect(invoked).toEqual([]);
  clock.now = begin + minute;
  await vi.waitFor(() => expect(invoked).toEqual([`${functionArn} {"a":1}`]), patience);
  await vi.waitFor(
    () =>
      expect(client.send(new GetScheduleCommand(name))).rejects.toMatchObject({
        name: 'ResourceNotFoundException',
      }),
    patience,
  );
  clock.now += minute;
  await ticks();
  expect(invoked).toHaveLength(1);
});

test('a schedule for a moment in the past is never invoked', async () => {
  const { client, clock, invoked, fire } = await open();
  fire();
  clock.now = begin + 2 * minute;
  await client.send(new CreateScheduleCommand(wish()));
  await ticks();
  expect(invoked).toEqual([]);
});

test('a name is created once; updates and deletions use it', async () => {
  const { client, clock, invoked, fire } = await open();
  fire();
  await client.send(new CreateScheduleCommand(wish({ ClientToken: 'same' })));
  await expect(client.send(new CreateScheduleCommand(wish({ ClientToken: 'same' })))).resolves.toBeDefined();
  await expect(client.send(new CreateScheduleCommand(wish()))).rejects.toMatchObject({
    name: 'ConflictException',
  });
  await client.send(new UpdateScheduleCommand(wish({ ScheduleExpression: 'at(2026-11-21T10:05:00)' })));
  clock.now = begin + 4 * minute;
  await ticks();
  await client.send(new DeleteScheduleCommand(name));
  clock.now = begin + 6 * minute;
  await ticks();
  expect(invoked).toEqual([]);
  const gone = { name: 'ResourceNotFoundException' };
  await expect(client.send(new DeleteScheduleCommand(name))).rejects.toMatchObject(gone);
  await expect(client.send(new UpdateScheduleCommand(wish()))).rejects.toMatchObject(gone);
});

test.each<[string, Partial<CreateScheduleCommandInput>]>([
  ['a rate', { ScheduleExpression: 'rate(1 minute)' }],
  ['a moment without seconds', { ScheduleExpression: 'at(2026-11-21T10:01)' }],
  ['a moment with a zone', { ScheduleExpression: 'at(2026-11-21T10:01:00Z)' }],
  ['another time zone', { ScheduleExpressionTimezone: 'Europe/Berlin' }],
  ['a flexible window', { FlexibleTimeWindow: { Mode: 'FLEXIBLE', MaximumWindowInMinutes: 1 } }],
  ['another target', { Target: { Arn: 'arn:aws:sqs:us-east-1:0:q', RoleArn: roleArn } }],
  ['an input that is not JSON', { Target: { Arn: functionArn, RoleArn: roleArn, Input: '{' } }],
  ['a name with a space', { Name: 'a b' }],
])('%s is refused', async (_, change) => {
  const { client } = await open();
  await expect(client.send(new CreateScheduleCommand(wish(change)))).rejects.toMatchObject({
    name: 'ValidationException',
  });
});

test('an operation that is not implemented, or is unsigned, is refused', async () => {
  const { client, url } = await open();
  await expect(client.send(new ListSchedulesCommand({}))).rejects.toMatchObject({
    name: 'UnknownOperationException',
  });
  expect((await fetch(`${url}/schedules/one`)).status).toBe(403);
});

test('schedules survive a restart, readable by their owner only; one due in between is invoked then', async () => {
  const folder = await makeFolder();
  const first = await open({ folder });
  await first.client.send(new CreateScheduleCommand(wish()));
  await first.stop();
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  const second = await open({ folder });
  second.clock.now = begin + 60 * minute;
  second.fire();
  await vi.waitFor(() => expect(second.invoked).toEqual([`${functionArn} {"a":1}`]), patience);
});

test('a failing target is retried, then sent to the dead-letter queue', async () => {
  const folder = await makeFolder();
  let attempts = 0;
  const refuse = (): never => {
    attempts += 1;
    throw new Error('no such function');
  };
  const { client, clock, fire } = await open({ folder, functions: { invokeLater: refuse } });
  fire();
  const RetryPolicy = { MaximumRetryAttempts: 2 };
  const Target = { Arn: functionArn, RoleArn: roleArn, Input: '{"a":1}', RetryPolicy };
  await client.send(new CreateScheduleCommand(wish({ Target })));
  for (const attempt of [1, 2, 3]) {
    clock.now += minute;
    await vi.waitFor(() => expect(attempts).toBe(attempt), patience);
  }
  const letters = () => readFile(join(folder, 'dead-letters.jsonl'), 'utf8');
  const letter = JSON.parse(await vi.waitFor(letters, patience));
  expect(letter).toEqual({
    at: new Date(clock.now).toISOString(),
    ...name,
    Input: '{"a":1}',
    problem: 'no such function',
  });
});

test('the program’s scheduler arms and disarms repeatedly', async () => {
  const { client, clock, invoked, fire } = await open();
  fire();
  const scheduler = makeScheduler(client, {
    group: 'g',
    functionArn,
    roleArn,
    deadLettersArn: 'arn:aws:sqs:x:0:q',
  });
  const id = '11111111-1111-4111-8111-111111111111' as ScheduleId;
  for (const runAt of [begin + minute, begin + minute, begin + 2 * minute]) await scheduler.arm(id, runAt);
  await scheduler.disarm(id, begin + 2 * minute);
  await scheduler.disarm(id, begin + 2 * minute);
  clock.now = begin + 3 * minute;
  const payload = JSON.stringify({ scheduleId: id, runAt: begin + minute });
  await vi.waitFor(() => expect(invoked).toEqual([`${functionArn} ${payload}`]), patience);
  await ticks();
  expect(invoked).toHaveLength(1);
});

test('a schedule that could not be written is not there, and the repeated request makes it', async () => {
  const folder = await makeFolder();
  const first = await open({ folder });
  await rm(folder, { recursive: true });
  const create = new CreateScheduleCommand(wish({ ClientToken: 'one' }));
  await expect(first.client.send(create)).rejects.toMatchObject({ $metadata: { httpStatusCode: 500 } });
  await mkdir(folder);
  await first.client.send(create);
  const second = await open({ folder });
  expect(await second.client.send(new GetScheduleCommand(name))).toMatchObject(name);
});
