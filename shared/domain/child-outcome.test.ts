import { expect, test } from 'vitest';
import { outcomeOf } from './child-outcome.ts';
import { type LogEntry, numberEntries, type StopReason } from './event-log.ts';
import type { MessageId, TurnId } from './ids.ts';

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

test('an outcome is the first completion after the message, whatever was said before and after', () => {
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

test('there is none before the message is taken, while it is worked on, or once the log forgot it', () => {
  expect(outcome(said('other'), completion('theirs'))).toBeUndefined();
  expect(outcome(said('mine'), said('a', 'assistant'))).toBeUndefined();
  expect(outcome(completion('whose?'))).toBeUndefined();
  expect(outcome(said('mine', 'assistant'), completion('whose?'))).toBeUndefined();
});

test('what went wrong last is named', () => {
  expect(
    outcome(said('mine'), failed('one'), failed('two'), completion('', 'error'), failed('later')),
  ).toEqual({
    stopReason: 'error',
    text: '',
    problem: 'two',
  });
});
