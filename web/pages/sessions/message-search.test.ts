import { expect, test } from 'vitest';
import { nothingSearched, searchedLabel, withPage } from './message-search.vue';

const page = { found: [], searchedSessions: 25, cutConversations: 0 };

test('pages add up, and the label says what was searched', () => {
  const one = withPage(nothingSearched, { ...page, next: 'a' });
  expect(one).toMatchObject({ isBegun: true, sessions: 25, next: 'a' });
  expect(searchedLabel(one)).toBe('0 found in the newest 25 sessions');
  const two = withPage(one, { ...page, searchedSessions: 3, cutConversations: 2 });
  expect(two.next).toBeUndefined();
  expect(searchedLabel(two)).toBe(
    '0 found in 28 sessions · only the newest messages of 2 long conversations',
  );
  expect(
    searchedLabel(withPage(nothingSearched, { ...page, searchedSessions: 1, cutConversations: 1 })),
  ).toBe('0 found in 1 session · only the newest messages of one long conversation');
});
