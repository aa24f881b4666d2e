import { expect, test } from 'vitest';
import { deciderLabel, grantLabel, hasPrefix, prefixProblem, suggestedPrefix } from './decision-labels.ts';

test.each([
  [{ kind: 'token', id: '0123456789ab' }, 'by the token 01234567'],
  [{ kind: 'token', id: '0123456789ab', name: 'ci' }, 'by ci (token 01234567)'],
  [{ kind: 'person', id: 'subject', name: 'Ada' }, 'by Ada'],
  [{ kind: 'person', id: 'subject' }, 'by subject'],
  [{ kind: 'grant', id: '0123456789ab' }, 'by the grant 01234567'],
  [{ kind: 'policy', id: 'auto' }, 'by the mode auto'],
  [{ kind: 'policy', id: 'effect rule 2' }, 'by the effect rule 2'],
  [{ kind: 'person', id: 'x', name: 'A\u202Eda' }, 'by A⟦U+202E⟧da'],
] as const)('%j decided', (by, words) => {
  expect(deciderLabel(by)).toBe(words);
});

test.each([
  ['git status -s', 'git status'],
  ['ls', 'ls'],
  ['echo one; rm two', undefined],
  ['"my program" now', undefined],
])('%j suggests %j', (command, words) => {
  expect(suggestedPrefix('execute_command', { command })).toBe(words);
});

test('only commands without a life or a place of their own have first words', () => {
  expect(suggestedPrefix('execute_code', { code: 'git status' })).toBeUndefined();
  for (const more of [{ background: true }, { cwd: '/tmp' }, { env: { A: '1' } }]) {
    expect(suggestedPrefix('execute_command', { command: 'git status', ...more })).toBeUndefined();
    expect(hasPrefix('execute_command', { command: 'git status', ...more })).toBe(false);
  }
  expect(hasPrefix('execute_command', { command: 'git status', timeout: 9, background: false })).toBe(true);
});

test('words that would not allow this very call are pointed out', () => {
  const call = { name: 'execute_command', args: { command: 'git status -s' } };
  expect(prefixProblem('git status', call)).toBeUndefined();
  expect(prefixProblem('', call)).toBe('Enter the first words of the command.');
  expect(prefixProblem('git $X', call)).toMatch(/^Plain words only/);
  expect(prefixProblem('git push', call)).toBe('These words would not allow this command.');
  expect(prefixProblem('git', { name: 'execute_command', args: { command: 'git log | sh' } })).toBeDefined();
});

test('a grant is described by what it allows', () => {
  expect(grantLabel({ tool: 'execute_command' })).toBe('Every later execute_command call');
  expect(grantLabel({ tool: 'execute_command', prefix: 'git status' })).toBe(
    'Commands beginning with git status',
  );
});
