/** The outcome of a run's turn, from logs that are whole, cut, and shared with others. */
import { expect, test } from 'vitest';
import type { LogEntry, LogEvent, StopReason } from '../event-log.ts';
import type { MessageId, TurnId } from '../ids.ts';
import { readOutcome } from './run-outcome.ts';

const mine = 'mine' as MessageId;
const said = (messageId: string): LogEntry => ({
  type: 'message',
  data: { messageId: messageId as MessageId, role: 'user', text: 'x' },
});
const answered = (text: string): LogEntry => ({
  type: 'message',
  data: { messageId: 'a' as MessageId, role: 'assistant', text },
});
const completed = (stopReason: StopReason = 'end_turn', text = 'done'): LogEntry => ({
  type: 'completion',
  data: {
    turnId: 't' as TurnId,
    stopReason,
    text,
    usage: { inputTokens: 0, outputTokens: 0 },
    sessionCostUsd: 0,
  },
});
const broke = (code: string, callId?: string): LogEntry => ({
  type: 'agent:error',
  data: { code, message: 'why', ...(callId === undefined ? {} : { callId: callId as never }) },
});
const logOf = (...entries: readonly LogEntry[]): readonly LogEvent[] =>
  entries.map((entry, index) => ({ ...entry, seq: 10 + index, at: 1000 * index }));
const ask = { message: mine, hasBegun: false, since: 9 };

test('a turn that has not begun is open, and nothing of another is taken for it', () => {
  const log = logOf(said('other'), completed());
  expect(readOutcome(log, ask)).toEqual({ kind: 'open', hasBegun: false, since: 9 });
  expect(readOutcome([], ask)).toEqual({ kind: 'open', hasBegun: false, since: 9 });
});

test('a turn that has begun is open from its message on', () => {
  const log = logOf(said('other'), completed(), said('mine'), answered('x'));
  expect(readOutcome(log, ask)).toEqual({ kind: 'open', hasBegun: true, since: 12 });
});

test('the first completion after its message is its end', () => {
  const log = logOf(said('other'), completed('error'), said('mine'), completed('end_turn', 'the answer'));
  expect(readOutcome(log, ask)).toEqual({
    kind: 'ended',
    event: 'answered',
    startedAt: 2000,
    endedAt: 3000,
    output: 'the answer',
    isLast: true,
  });
});

test('somebody who goes on in the session is noticed', () => {
  const log = logOf(said('mine'), completed(), said('other'));
  expect(readOutcome(log, ask)).toMatchObject({ kind: 'ended', isLast: false });
});

test('a turn that broke says why: its own error, not that of a call', () => {
  const log = logOf(
    said('mine'),
    broke('tool', 'call'),
    broke('provider_overloaded'),
    completed('error', ''),
  );
  expect(readOutcome(log, ask)).toMatchObject({
    event: 'broke',
    problem: 'provider_overloaded: why',
    output: '',
  });
  const cancelled = logOf(said('mine'), broke('tool', 'call'), completed('cancelled', ''));
  expect(readOutcome(cancelled, ask)).toMatchObject({ event: 'broke', problem: 'cancelled' });
});

test('a turn whose message the ring has dropped ends with the first completion that is left', () => {
  const log = logOf(answered('x'), completed('end_turn', 'mine'), said('other'), completed('error', 'other'));
  const outcome = readOutcome(log, { ...ask, hasBegun: true });
  expect(outcome).toMatchObject({ kind: 'ended', event: 'answered', output: 'mine', isLast: false });
  expect(outcome).not.toHaveProperty('startedAt');
});
