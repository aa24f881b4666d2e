import { expect, test } from 'vitest';
import type { LogEntry, LogEvent } from '../event-log.ts';
import type { MessageId, TurnId } from '../ids.ts';
import { summarizeTurns } from './turn-summaries.ts';

const logOf = (...entries: readonly LogEntry[]): readonly LogEvent[] =>
  entries.map((entry, seq) => ({ ...entry, seq, at: seq * 10 }));
const said = (role: 'user' | 'assistant', text: string, id = text): LogEntry => ({
  type: 'message',
  data: { messageId: id as MessageId, role, text },
});
const usage = { inputTokens: 1, outputTokens: 2 };
const ended = (text: string): LogEntry => ({
  type: 'completion',
  data: { turnId: 't' as TurnId, stopReason: 'end_turn', text, usage, sessionCostUsd: 0 },
});

test('a turn begins with a message of the user and ends with its completion', () => {
  const note: LogEntry = { type: 'system', data: { kind: 'note' } };
  const log = logOf(said('user', 'a'), said('assistant', 'b'), ended('b'), note, said('user', 'c'));
  expect(summarizeTurns(log)).toEqual([
    {
      messageId: 'a',
      startedAt: 0,
      request: 'a',
      end: { at: 20, stopReason: 'end_turn', output: 'b', usage },
    },
    { messageId: 'c', startedAt: 40, request: 'c' },
  ]);
});

test('the end of a turn that the log does not know belongs to no other', () => {
  expect(summarizeTurns(logOf(ended('x')))).toEqual([]);
  expect(
    summarizeTurns(logOf(said('user', 'a'), ended('b'), ended('c'))).map(({ end }) => end?.output),
  ).toEqual(['b']);
});

test('what is longer than 200 characters is cut, never through one', () => {
  const whole = '🙂'.repeat(200);
  const [turn] = summarizeTurns(logOf(said('user', `${whole}🙂`, 'm'), ended(whole)));
  expect([turn?.request, turn?.end?.output]).toEqual([`${whole}…`, whole]);
});
