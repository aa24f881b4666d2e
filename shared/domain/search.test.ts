import { expect, test } from 'vitest';
import type { HistoryMessage } from './history.ts';
import type { CallId, MessageId } from './ids.ts';
import { findMessages, findWords, searchWords } from './search.ts';

const said = (role: 'user' | 'assistant', text: string): HistoryMessage =>
  role === 'user'
    ? { role, messageId: text as MessageId, text }
    : { role, messageId: text as MessageId, text, calls: [] };

test('a text matches if it holds every word, in any order and case', () => {
  const text = 'Deploy the Parser before noon';
  expect(findWords(text, searchWords('parser deploy'))).toEqual({
    ...{ before: 'Deploy the ', match: 'Parser', after: ' before noon' },
  });
  expect(findWords(text, searchWords('parser tomorrow'))).toBeUndefined();
  expect(findWords(text, searchWords('  '))).toBeUndefined();
});

test('characters of patterns mean themselves', () => {
  expect(findWords('cost is 1+1 (two) [a]/b', searchWords('1+1'))?.match).toBe('1+1');
  expect(findWords('cost is 1+1 (two) [a]/b', searchWords('[a]/b'))?.match).toBe('[a]/b');
  expect(findWords('anything', searchWords('.*'))).toBeUndefined();
  expect(findWords('a-b', searchWords('a-b'))?.match).toBe('a-b');
});

test('a letter whose lower case is longer does not shift the match', () => {
  expect(findWords('İİİ needle', searchWords('needle'))).toEqual({
    ...{ before: 'İİİ ', match: 'needle', after: '' },
  });
});

test('a match in a long text is shown with 80 characters on each side', () => {
  const found = findWords(`${'a'.repeat(500)}needle${'b'.repeat(500)}`, searchWords('needle'));
  expect(found).toEqual({ before: 'a'.repeat(80), match: 'needle', after: 'b'.repeat(80) });
});

test('messages are found up to a limit, and results of tools are left out', () => {
  const result: HistoryMessage = {
    ...{ role: 'tool', callId: 'c' as CallId, name: 'n', text: 'needle', outcome: 'completed' },
  };
  const messages = [
    said('user', 'needle 1'),
    result,
    said('assistant', 'needle 2'),
    said('user', 'needle 3'),
  ];
  expect(findMessages(messages, searchWords('needle'), 2).map(({ messageId }) => messageId)).toEqual([
    'needle 1',
    'needle 2',
  ]);
});
