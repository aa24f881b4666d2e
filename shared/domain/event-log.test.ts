import { expect, test } from 'vitest';
import { type LogEntry, numberEntries, ofLatestTurn, oldestKept, textOf } from './event-log.ts';
import type { MessageId } from './ids.ts';

const entry = (kind: string): LogEntry => ({ type: 'system', data: { kind } });

test('entries are numbered one after another (T14)', () => {
  expect(numberEntries([entry('a'), entry('b')], { firstSeq: 41, at: 7 })).toEqual([
    { type: 'system', data: { kind: 'a' }, seq: 41, at: 7 },
    { type: 'system', data: { kind: 'b' }, seq: 42, at: 7 },
  ]);
  expect(numberEntries([], { firstSeq: 0, at: 7 })).toEqual([]);
});

test.each([
  ['nothing', [], []],
  ['a turn that began before', ['answer', 'output'], [0, 1]],
  ['the latest turn alone', ['question', 'answer', 'completion', 'note', 'question', 'output'], [4, 5]],
  ['a turn that has ended', ['completion', 'question', 'answer', 'completion', 'note'], [1, 2, 3, 4]],
])('of the latest turn is %s', (_what, kinds, left) => {
  const message = (role: 'user' | 'assistant'): LogEntry => ({
    type: 'message',
    data: { messageId: 'm' as MessageId, role, text: '' },
  });
  const entryOf = (kind: string): LogEntry =>
    kind === 'question' ? message('user') : kind === 'answer' ? message('assistant') : entry(kind);
  const events = numberEntries(kinds.map(entryOf), { firstSeq: 0, at: 7 });
  expect(ofLatestTurn(events).map(({ seq }) => seq)).toEqual(left);
});

test.each([
  [-1, 0],
  [0, 0],
  [999, 0],
  [1000, 1],
  [2500, 1501],
])('a log that ends at %i keeps what follows from %i', (lastSeq, oldest) => {
  expect(oldestKept(lastSeq)).toBe(oldest);
});

test('a model reads the text of a result, and not what is for people', () => {
  const table = { type: 'resource', resource: { text: '{}' } };
  const content = [
    { type: 'text', text: 'out' },
    { type: 'image', data: 'AAAA' },
    { ...table, annotations: { audience: ['user'] } },
    { ...table, annotations: { audience: ['user', 'assistant'] } },
  ];
  expect(textOf(content)).toBe('out\n[image]\n[resource]');
});
