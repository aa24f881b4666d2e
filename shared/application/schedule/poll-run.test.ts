/** The state of a running run: by logs that are whole, cut, and deleted, of sessions that go on and that ended. */

import { expect, test } from 'vitest';
import type { LogEvent } from '../../domain/event-log.ts';
import type { MessageId, SessionId, TurnId } from '../../domain/ids.ts';
import type { Run } from '../../domain/schedule/run.ts';
import type { ScheduleId } from '../../domain/schedule/schedule.ts';
import type { Session, SessionStatus } from '../../domain/session.ts';
import type { Deps } from '../deps.ts';
import { pollRun } from './poll-run.ts';

const message = 'mine' as MessageId;
const now = 10_000_000;
const run = (change: Partial<Run> = {}): Run => ({
  schedule: 's' as ScheduleId,
  runAt: 0,
  part: '0',
  isManual: false,
  isLate: false,
  state: 'running',
  claimedAt: now - 1000,
  startedAt: now - 1000,
  session: 'session' as SessionId,
  message,
  since: -1,
  dueAt: now,
  version: 1,
  ...change,
});

const said = (seq: number, messageId: MessageId = message): LogEvent => ({
  type: 'message',
  data: { messageId, role: 'user', text: 'x' },
  seq,
  at: now - 500,
});
const completed = (seq: number): LogEvent => {
  const usage = { inputTokens: 0, outputTokens: 0 };
  const data = {
    turnId: 't' as TurnId,
    stopReason: 'end_turn' as const,
    text: 'ok',
    usage,
    sessionCostUsd: 0,
  };
  return { type: 'completion', data, seq, at: now - 100 };
};

type Standing = {
  readonly lastSeq: number;
  readonly status?: SessionStatus;
  /** The log at each read; the last one stays. */
  readonly logs: readonly (readonly LogEvent[])[];
  readonly inbox?: readonly MessageId[];
};

const portsOf = (
  standing: Standing | undefined,
): Deps<'sessions' | 'turns' | 'eventLog' | 'world'> & { readonly asked: number[] } => {
  const asked: number[] = [];
  const sessions = {
    get: async () =>
      standing &&
      ({ id: 'session', status: standing.status ?? 'idle', lastSeq: standing.lastSeq } as Session),
    read: async (_: SessionId, { since }: { readonly since: number }) => {
      asked.push(since);
      const events = standing?.logs[asked.length - 1] ?? standing?.logs.at(-1) ?? [];
      return { events: events.filter(({ seq }) => seq > since), hasMore: false };
    },
    loadWork: async () => ({ inbox: (standing?.inbox ?? []).map((messageId) => ({ messageId })) }),
  };
  return {
    asked,
    sessions,
    turns: sessions,
    eventLog: sessions,
    world: { now: () => now },
  } as unknown as Deps<'sessions' | 'turns' | 'eventLog' | 'world'> & {
    readonly asked: number[];
  };
};
const look = async (standing: Standing | undefined, change: Partial<Run> = {}) =>
  pollRun(portsOf(standing), run(change));

test('a run that has begun is recorded as begun, and polled again', async () => {
  const { run: seen, over } = await look({ lastSeq: 3, logs: [[said(3)]] });
  expect(seen).toEqual(run({ hasBegun: true, since: 3, dueAt: now + 60_000 }));
  expect(over).toBeUndefined();
});

test('a waiting run is polled again unchanged', async () => {
  expect((await look({ lastSeq: 0, logs: [[]] })).run).toEqual(run({ dueAt: now + 60_000 }));
});

test('a run that has ended has its outcome, and is no longer due', async () => {
  const { run: seen } = await look({ lastSeq: 4, logs: [[said(3), completed(4)]] });
  const { dueAt: _, ...rest } = run({
    state: 'success',
    output: 'ok',
    startedAt: now - 500,
    endedAt: now - 100,
  });
  expect(seen).toEqual(rest);
});

test.each([
  ['nobody else has said anything', [said(3), completed(4)], 'idle', true],
  ['somebody has', [said(3), completed(4), said(5, 'other' as MessageId)], 'idle', false],
  ['it has ended', [said(3), completed(4)], 'completed', false],
] as const)('its own session ends with it when %s', async (...[, log, status, isOver]) => {
  const { over } = await look({ lastSeq: 5, logs: [log], status }, { isAlone: true });
  expect(over !== undefined).toBe(isOver);
});

test('a session that others use does not end', async () => {
  expect((await look({ lastSeq: 4, logs: [[said(3), completed(4)]] })).over).toBeUndefined();
});

test.each<[string, Standing | undefined, string]>([
  ['is deleted', undefined, 'its session was deleted'],
  ['ended', { lastSeq: 0, logs: [[]], status: 'completed' }, 'its session ended'],
])('a run whose session %s has failed', async (_, standing, problem) => {
  expect((await look(standing)).run).toMatchObject({ state: 'failed', problem, endedAt: now });
});

test('where the log has dropped the entries after the message, the inbox decides', async () => {
  const cut = { lastSeq: 5000, logs: [[said(4990, 'other' as MessageId), completed(5000)]] };
  expect((await look({ ...cut, inbox: [message] })).run).toMatchObject({ state: 'running' });
  const problem = 'the log of its session no longer has its end';
  expect((await look(cut)).run).toMatchObject({ state: 'failed', problem });
});

test('a run that ends between the reads of log and inbox has not failed', async () => {
  const log = [said(4990), completed(5000)];
  expect((await look({ lastSeq: 4990, logs: [[], log] })).run).toMatchObject({ state: 'success' });
});

test('a run that has begun ends with the first remaining completion', async () => {
  const standing = { lastSeq: 5000, logs: [[completed(5000)]] };
  expect((await look(standing, { hasBegun: true, since: 100 })).run).toMatchObject({ state: 'success' });
});

test.each(['claimed', 'queued', 'success', 'failed', 'skipped'] as const)(
  'a run that is %s is left alone',
  async (state) => {
    const ports = portsOf({ lastSeq: 4, logs: [[said(3), completed(4)]] });
    expect(await pollRun(ports, run({ state }))).toEqual({ run: run({ state }) });
    expect(ports.asked).toEqual([]);
  },
);
