import { expect, test } from 'vitest';
import {
  costProblem,
  givenOf,
  limitProblem,
  noChoices,
  parseNamedLines,
  sliceProblems,
} from './session-choices.ts';

test('choices that differ from the defaults are given', () => {
  expect(givenOf(noChoices())).toEqual({});
  expect(givenOf({ ...noChoices(), model: 'm', maxCostUsd: ' 2.5' })).toEqual({
    model: 'm',
    maxCostUsd: 2.5,
  });
  expect(givenOf({ ...noChoices(), maxCostUsd: '0' })).toEqual({ maxCostUsd: 0 });
});

test('limits beside that of money are given together, and none as none', () => {
  const { slice } = noChoices();
  const written = { ...slice, maxToolCalls: '20', maxEgressBytes: '1000000 ' };
  expect(givenOf({ ...noChoices(), slice: written })).toEqual({
    slice: { maxToolCalls: 20, maxEgressBytes: 1_000_000 },
  });
  expect(sliceProblems(written)).toEqual({});
  expect(sliceProblems({ ...written, maxTotalTokens: '0' })).toEqual({
    maxTotalTokens: 'Enter a whole number from 1.',
  });
});

test.each([
  ['', true],
  ['1', true],
  ['1e6', true],
  ['0', false],
  ['1.5', false],
  ['-1', false],
  ['many', false],
])('%j as a limit of a session: %s', (text, isLimit) => {
  expect(limitProblem(text) === undefined).toBe(isLimit);
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

test('each line is a name and a value, divided at the first sign', () => {
  expect(parseNamedLines('team:red\n\n url : http://x\r\nempty:', ':')).toEqual({
    values: { team: 'red', url: ' http://x', empty: '' },
  });
  expect(parseNamedLines('A=b=c', '=')).toEqual({ values: { A: 'b=c' } });
  expect(parseNamedLines(' \n', '=')).toEqual({ values: {} });
});

test('a line without a name is a problem, which does not repeat it', () => {
  expect(parseNamedLines('A=1\npassword', '=')).toEqual({
    values: {},
    problem: 'Line 2 has no name before =',
  });
  expect(parseNamedLines('=1', '=').problem).toBe('Line 1 has no name before =');
});
