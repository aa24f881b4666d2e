import { describe, expect, test } from 'vitest';
import { type LogEntry, type LogEvent, numberEntries, type StopReason } from '../event-log.ts';
import type { MessageId, TurnId } from '../ids.ts';
import { outcomeOf, summarizeTurns } from './logged-turns.ts';

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

test('a turn begins with a user message and ends with its completion', () => {
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

test('the end of a turn that is not in the log belongs to no other turn', () => {
  expect(summarizeTurns(logOf(ended('x')))).toEqual([]);
  expect(
    summarizeTurns(logOf(said('user', 'a'), ended('b'), ended('c'))).map(({ end }) => end?.output),
  ).toEqual(['b']);
});

test('text over 200 characters is cut between characters', () => {
  const whole = '🙂'.repeat(200);
  const [turn] = summarizeTurns(logOf(said('user', `${whole}🙂`, 'm'), ended(whole)));
  expect([turn?.request, turn?.end?.output]).toEqual([`${whole}…`, whole]);
});

describe('child outcome', () => {
  const said = (messageId: string, role: 'user' | 'assistant' = 'user'): LogEntry => ({
    type: 'message',
    data: { messageId: messageId as MessageId, role, text: 'words' },
  });
  const completion = (text: string, stopReason: StopReason = 'end_turn'): LogEntry => ({
    type: 'completion',
    data: {
      turnId: 't' as TurnId,
      stopReason,
      text,
      usage: { inputTokens: 1, outputTokens: 1 },
      sessionCostUsd: 0,
    },
  });
  const failed = (message: string): LogEntry => ({
    type: 'agent:error',
    data: { code: 'internal_error', message },
  });

  const outcome = (...entries: readonly LogEntry[]) =>
    outcomeOf(numberEntries(entries, { firstSeq: 7, at: 1 }), 'mine' as MessageId);

  test('an outcome is the first completion after the message, whatever is before and after', () => {
    const log = [
      said('other'),
      completion('theirs'),
      said('mine'),
      said('a', 'assistant'),
      completion('my answer'),
    ];
    expect(outcome(...log)).toEqual({ stopReason: 'end_turn', text: 'my answer' });
    expect(outcome(...log, said('next'), completion('later'))).toEqual({
      stopReason: 'end_turn',
      text: 'my answer',
    });
  });

  test('there is none before the message is taken, while it is in progress, or once the log dropped it', () => {
    expect(outcome(said('other'), completion('theirs'))).toBeUndefined();
    expect(outcome(said('mine'), said('a', 'assistant'))).toBeUndefined();
    expect(outcome(completion('whose?'))).toBeUndefined();
    expect(outcome(said('mine', 'assistant'), completion('whose?'))).toBeUndefined();
  });

  test('the last error is named', () => {
    expect(
      outcome(said('mine'), failed('one'), failed('two'), completion('', 'error'), failed('later')),
    ).toEqual({
      stopReason: 'error',
      text: '',
      problem: 'two',
    });
  });
});
