import { expect, test } from 'vitest';
import { argsNotJson, argsNotWellFormed, problemOfArgs } from './requested-call.ts';

test.each([
  [argsNotJson('{"path":'), 'the arguments are not valid JSON: {"path":'],
  [argsNotJson('ls'), 'the arguments are not valid JSON: ls'],
  [argsNotJson('[1]'), 'the arguments are not a JSON object: [1]'],
  [argsNotWellFormed('{"a":"\\ud83d"}'), 'the arguments have half of a character: {"a":"\\ud83d"}'],
  [{}, undefined],
  [{ path: 'x' }, undefined],
  [{ arguments_not_json: 1 }, undefined],
  [{ arguments_not_json: 'x', path: 'x' }, undefined],
])('the problem of %j is %s', (args, problem) => {
  expect(problemOfArgs(args)).toBe(problem);
});

test('of long arguments both ends are shown', () => {
  const problem = problemOfArgs(argsNotJson(`{"a":"${'x'.repeat(10_000)}"`)) ?? '';
  expect(problem.length).toBeLessThan(300);
  expect(problem).toMatch(/^the arguments are not valid JSON: \{"a":"x+/);
});
