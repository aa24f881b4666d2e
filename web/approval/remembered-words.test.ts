import { expect, test } from 'vitest';
import { grantWords, prefixProblem, suggestedPrefix } from './remembered-words.ts';

test.each([
  ['git status -s', 'git status'],
  ['ls', 'ls'],
  ['echo one; rm two', undefined],
  ['"my program" now', undefined],
])('%j suggests %j', (command, words) => {
  expect(suggestedPrefix('execute_command', { command })).toBe(words);
});

test('only commands have first words', () => {
  expect(suggestedPrefix('execute_code', { code: 'git status' })).toBeUndefined();
});

test('words that would not allow this very call are told', () => {
  const call = { name: 'execute_command', args: { command: 'git status -s' } };
  expect(prefixProblem('git status', call)).toBeUndefined();
  expect(prefixProblem('', call)).toBe('Write the first words of the command.');
  expect(prefixProblem('git $X', call)).toMatch(/^Plain words only/);
  expect(prefixProblem('git push', call)).toBe('This command would not be allowed by these words.');
  expect(prefixProblem('git', { name: 'execute_command', args: { command: 'git log | sh' } })).toBeDefined();
});

test('a grant is told by what it allows', () => {
  expect(grantWords({ tool: 'execute_command' })).toBe('Every later execute_command call');
  expect(grantWords({ tool: 'execute_command', prefix: 'git status' })).toBe(
    'Commands beginning with git status',
  );
});
