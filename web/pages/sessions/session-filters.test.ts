import { expect, test } from 'vitest';
import type { Session } from '#sdk/routes.ts';
import {
  filtersFrom,
  filtersQuery,
  labelOptions,
  matcherOf,
  noFilters,
  searchTexts,
} from './session-filters.ts';

const session = (labels: Session['labels'], facts: Partial<Session> = {}): Session =>
  ({
    labels,
    pendingApprovals: [],
    status: 'idle',
    kind: 'agent',
    project: 'p',
    ...facts,
  }) as Partial<Session> as Session;

test('filters survive the address, and empty ones are not in it', () => {
  const filters = { ...noFilters, search: 'a b', state: 'ended', label: 'team:red' };
  expect(filtersQuery(filters)).toEqual({ search: 'a b', state: 'ended', label: 'team:red' });
  expect(filtersFrom(filtersQuery(filters))).toEqual(filters);
  expect(filtersQuery(noFilters)).toEqual({});
});

test('values of the address that no field has filter nothing', () => {
  expect(filtersFrom({ state: 'sleepy', kind: ['agent'], label: null, in: 'messages' })).toEqual(noFilters);
});

test('sessions are filtered by label', () => {
  const matches = matcherOf({ ...noFilters, label: 'team:red' }, () => '');
  expect(matches(session({ team: 'red', a: 'b' }))).toBe(true);
  expect(matches(session({ team: 'redder' }))).toBe(false);
  expect(matches(session({}))).toBe(false);
});

test('a session whose last turn failed is found as failed, by the word that its row shows too', () => {
  const failed = session({}, { lastStopReason: 'error' });
  expect(matcherOf({ ...noFilters, state: 'failed' }, () => '')(failed)).toBe(true);
  expect(matcherOf({ ...noFilters, state: 'failed' }, () => '')(session({}))).toBe(false);
  const again = session({}, { status: 'running', lastStopReason: 'error' });
  expect(matcherOf({ ...noFilters, state: 'failed' }, () => '')(again)).toBe(false);
  expect(
    matcherOf(
      { ...noFilters, search: 'turn failed' },
      searchTexts(() => ''),
    )(failed),
  ).toBe(true);
});

test('every label of the listed sessions can be chosen once, and the chosen one stays', () => {
  const listed = [session({ team: 'red' }), session({ team: 'red', size: '1' })];
  expect(labelOptions(listed, 'team:blue').map(({ value }) => value)).toEqual([
    ...['', 'size:1', 'team:blue', 'team:red'],
  ]);
});

test('the text of a session is made once, whatever is typed', () => {
  const listed = Array.from({ length: 1000 }, (_, index) => session({}, { id: `session-${index}` }));
  let made = 0;
  const textOf = searchTexts(({ id }) => {
    made += 1;
    return `title of ${id}`;
  });
  const typed = 'session-7';
  const found = Array.from({ length: typed.length }, (_, index) => {
    const matches = matcherOf({ ...noFilters, search: typed.slice(0, index + 1) }, textOf);
    return listed.filter(matches).length;
  });
  expect(found.at(-1)).toBe(111);
  expect(made).toBe(1000);
});
