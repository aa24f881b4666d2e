import { expect, test } from 'vitest';
import { deciderWords } from './decider-words.ts';

test.each([
  [{ kind: 'token', id: '0123456789ab' }, 'by the token 01234567'],
  [{ kind: 'token', id: '0123456789ab', name: 'ci' }, 'by ci (token 01234567)'],
  [{ kind: 'person', id: 'subject', name: 'Ada' }, 'by Ada'],
  [{ kind: 'person', id: 'subject' }, 'by subject'],
  [{ kind: 'grant', id: '0123456789ab' }, 'by the grant 01234567'],
  [{ kind: 'policy', id: 'auto' }, "by the session's policy auto"],
  [{ kind: 'person', id: 'x', name: 'A\u202Eda' }, 'by A⟦U+202E⟧da'],
] as const)('%j decided', (by, words) => {
  expect(deciderWords(by)).toBe(words);
});
