import { expect, test } from 'vitest';
import { decodeLabel, hasLabel, isLabelKey, isLabelValue } from './session-details.ts';

test('a label is a key and a value, divided at the first colon', () => {
  expect(decodeLabel('team:red')).toEqual({ key: 'team', value: 'red' });
  expect(decodeLabel('a/b.c-d_1:')).toEqual({ key: 'a/b.c-d_1', value: '' });
  expect(decodeLabel('url:http://x')).toEqual({ key: 'url', value: 'http://x' });
  for (const wrong of ['team', ':red', 'two words:x', `${'k'.repeat(65)}:x`, 'k:\u202Ex'])
    expect(decodeLabel(wrong)).toBeUndefined();
});

test('a session has exactly the labels it was given', () => {
  const session = { labels: { team: 'red' } };
  expect(hasLabel(session, { key: 'team', value: 'red' })).toBe(true);
  expect(hasLabel(session, { key: 'team', value: 'blue' })).toBe(false);
  expect(hasLabel(session, { key: 'toString', value: 'red' })).toBe(false);
  expect(hasLabel({}, { key: 'team', value: 'red' })).toBe(false);
});

test('keys and values are bounded', () => {
  expect([isLabelKey('k'.repeat(64)), isLabelKey('k'.repeat(65)), isLabelKey('')]).toEqual([
    true,
    false,
    false,
  ]);
  expect([isLabelValue('v'.repeat(256)), isLabelValue('v'.repeat(257)), isLabelValue('a\nb')]).toEqual([
    true,
    false,
    false,
  ]);
});
