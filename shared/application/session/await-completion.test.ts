import { expect, test } from 'vitest';
import { fake } from '../../../tests/fake.ts';
import type { LogEntry } from '../../domain/event-log.ts';
import type { CallId, MessageId, SessionId, TurnId } from '../../domain/ids.ts';
import type { EventLog } from '../../ports/event-log.ts';
import type { TurnStore } from '../../ports/turn-store.ts';
import { type Awaited, awaitCompletion, standingOf } from './await-completion.ts';

const usage = { inputTokens: 0, outputTokens: 0 };
const begin = (id: string): LogEntry => ({
  type: 'message',
  data: { messageId: id as MessageId, role: 'user', text: id },
});
const completion = (text: string): LogEntry => ({
  type: 'completion',
  data: { turnId: 't' as TurnId, stopReason: 'end_turn', text, usage, sessionCostUsd: 0 },
});
const call: LogEntry = { type: 'tool:call', data: { callId: 'c' as CallId, name: 'x', args: {} } };
const error: LogEntry = { type: 'agent:error', data: { code: 'internal_error', message: 'no' } };
const system: LogEntry = { type: 'system', data: { kind: 'note' } };

/** A log that grows while it is waited for: what has come by the moment in milliseconds. */
const follow = async (
  log: readonly (readonly [at: number, entry: LogEntry])[],
  options: Partial<Awaited> & { readonly pageMax?: number } = {},
) => {
  let now = 0;
  const looks: number[] = [];
  const heard: string[] = [];
  const eventLog = {
    read: async (_id: SessionId, { since }: { since: number }) => {
      looks.push(now);
      const there = log.flatMap(([at, entry], seq) =>
        at <= now && seq > since ? [{ ...entry, seq, at }] : [],
      );
      const events = there.slice(0, options.pageMax ?? 1000);
      return { events, hasMore: events.length < there.length };
    },
  };
  const world = {
    now: () => now,
    uuid: () => '',
    sha256: () => '',
    sleep: async (milliseconds: number) => {
      now += milliseconds;
    },
  };
  const answer = await awaitCompletion(
    { eventLog: fake<EventLog>(eventLog), world },
    {
      sessionId: 's' as SessionId,
      messageId: 'mine' as MessageId,
      since: -1,
      waitMsMax: 60_000,
      signal: new AbortController().signal,
      onEvent: ({ type }) => heard.push(type),
      ...options,
    },
  );
  return { answer, heard, looks, text: answer.completion?.data.text };
};

test('the completion is the first after the message, and events before it are reported', async () => {
  const log = [
    begin('other'),
    call,
    completion('theirs'),
    begin('mine'),
    system,
    call,
    error,
    completion('mine'),
    call,
  ];
  const { heard, text, answer } = await follow(log.map((entry) => [0, entry]));
  expect(heard).toEqual(['tool:call', 'agent:error', 'completion']);
  expect([text, answer.lastIndex]).toEqual(['mine', 7]);
});

test('consecutive pages are read at once', async () => {
  const log = [begin('mine'), call, call, completion('done')];
  const { text, looks } = await follow(
    log.map((entry) => [0, entry]),
    { pageMax: 1 },
  );
  expect([text, looks]).toEqual(['done', [0, 0, 0, 0]]);
});

test('the log is read every half second at first, later every two, and often again after an event', async () => {
  const { looks, text } = await follow([
    [0, begin('mine')],
    [9000, call],
    [11_000, completion('done')],
  ]);
  expect(text).toBe('done');
  expect(looks.slice(0, 3)).toEqual([0, 500, 1250]);
  const pauses = looks.slice(1).map((look, index) => look - (looks[index] ?? 0));
  expect(Math.max(...pauses)).toBe(2000);
  expect(pauses.slice(-2)).toEqual([500, 750]);
});

test('the wait ends at its timeout, or when the caller disconnects', async () => {
  const silent = await follow([[0, begin('mine')]], { waitMsMax: 5000 });
  expect(silent.answer).toEqual({ lastIndex: 0 });
  expect(silent.looks.at(-1)).toBeLessThanOrEqual(5000);
  const gone = await follow([[0, begin('mine')]], { signal: AbortSignal.abort() });
  expect([gone.answer, gone.looks]).toEqual([{ lastIndex: -1 }, []]);
});

test('of a repeated message whose turn is over and is not in the log any more, the answer comes at once', async () => {
  const later = [call, completion('theirs'), begin('other')].map((entry) => [0, entry] as const);
  const { answer, heard, looks } = await follow(later, { standing: 'over' });
  expect([answer, heard, looks]).toEqual([{ lastIndex: 2, isForgotten: true }, [], [0]]);
  const known = await follow([[0, begin('mine')], [0, completion('done')], ...later], { standing: 'over' });
  expect(known.text).toBe('done');
});

test('of a repeated message whose turn runs, and whose beginning is dropped, the next completion is its own', async () => {
  const { text, heard } = await follow(
    [
      [0, call],
      [3000, error],
      [4000, completion('done')],
    ],
    { standing: 'running' },
  );
  expect([text, heard]).toEqual(['done', ['tool:call', 'agent:error', 'completion']]);
  const whole = [completion('theirs'), begin('mine'), completion('done')].map((entry) => [0, entry] as const);
  expect((await follow(whole, { standing: 'running' })).text).toBe('done');
});

test('a message that waits for its turn is waited for', async () => {
  const { text } = await follow(
    [
      [0, completion('theirs')],
      [1000, begin('mine')],
      [2000, completion('done')],
    ],
    { standing: 'waiting' },
  );
  expect(text).toBe('done');
});

test.each([
  ['over', { status: 'idle', state: { kind: 'done' }, inbox: ['other'] }],
  [
    'waiting',
    { status: 'running', state: { kind: 'thinking', messageId: 'other' }, inbox: ['other', 'mine'] },
  ],
  ['running', { status: 'running', state: { kind: 'thinking', messageId: 'mine' }, inbox: ['mine'] }],
  ['over', { status: 'completed', state: { kind: 'idle' }, inbox: ['mine'] }],
] as const)('a message is %s: %j', async (standing, { status, state, inbox }) => {
  const turns = fake<TurnStore>({
    loadWork: async () => ({ turn: { state }, inbox: inbox.map((messageId) => ({ messageId })) }) as never,
  });
  const session = { id: 's' as SessionId, status };
  expect(await standingOf({ turns }, session, 'mine' as MessageId)).toBe(standing);
});
