/** The cut of a conversation at a message. */
import { expect, test } from 'vitest';
import { branchAt } from './branch.ts';
import type { LogEvent } from './event-log.ts';
import type { HistoryMessage } from './history.ts';
import type { CallId, MessageId } from './ids.ts';

const user = (id: string): HistoryMessage => ({ role: 'user', messageId: id as MessageId, text: id });
const answer = (id: string, calls: readonly string[] = []): HistoryMessage => ({
  ...{ role: 'assistant', messageId: id as MessageId, text: id },
  calls: calls.map((callId) => ({ callId: callId as CallId, name: 'read_file', args: {} })),
});
const result: HistoryMessage = {
  role: 'tool',
  callId: 'c' as CallId,
  name: 'read_file',
  text: '',
  outcome: 'completed',
};
const history = [user('q1'), answer('a1', ['c']), result, answer('a2'), user('q2'), answer('a3')];

const said = (seq: number, messageId: string, role: 'user' | 'assistant'): LogEvent => ({
  ...{ seq, at: seq * 10, type: 'message' },
  data: { messageId: messageId as MessageId, role, text: messageId },
});
const events = [
  said(1, 'q1', 'user'),
  said(2, 'a2', 'assistant'),
  said(3, 'q2', 'user'),
  said(4, 'a3', 'assistant'),
];
const cut = (messageId: string) => branchAt({ history, events }, messageId);

test("a user's message begins what is left out", () => {
  expect(cut('q2')).toEqual({ history: history.slice(0, 4), events: events.slice(0, 2), filesAt: 30 });
  expect(cut('q1')).toEqual({ history: [], events: [], filesAt: 10 });
});

test('an answer that ended its turn is the last of what is kept', () => {
  expect(cut('a2')).toEqual({ history: history.slice(0, 4), events: events.slice(0, 2), filesAt: 30 });
  expect(cut('a3')).toEqual({ history, events, filesAt: 'now' });
});

test('nothing is cut inside a turn, and an unknown message is none', () => {
  expect(cut('a1')).toBeUndefined();
  expect(cut('other')).toBeUndefined();
  expect(branchAt({ history: [], events }, 'q1')).toBeUndefined();
});

test('where the log no longer has the message, the time of its files is not known', () => {
  expect(branchAt({ history, events: events.slice(3) }, 'q2')).toEqual({
    history: history.slice(0, 4),
    events: [],
  });
});

test('a turn that runs is no end', () => {
  const running = [...history, user('q3'), answer('a4', ['c'])];
  expect(branchAt({ history: running, events }, 'a4')).toBeUndefined();
  expect(branchAt({ history: running, events }, 'a3')?.history).toEqual(history);
});
