import { expect, test } from 'vitest';
import { costProblem, givenOf, noChoices } from './session-choices.ts';

test('choices that differ from the defaults are given', () => {
  expect(givenOf(noChoices())).toEqual({});
  expect(givenOf({ ...noChoices(), model: 'm', maxCostUsd: ' 2.5' })).toEqual({
    model: 'm',
    maxCostUsd: 2.5,
  });
  expect(givenOf({ ...noChoices(), maxCostUsd: '0' })).toEqual({ maxCostUsd: 0 });
});

test.each([
  ['', true],
  ['0', true],
  ['0.05', true],
  ['100000', true],
  ['100001', false],
  ['-1', false],
  ['two', false],
])('%j as the cost of a session: %s', (text, isSum) => {
  expect(costProblem(text) === undefined).toBe(isSum);
});
