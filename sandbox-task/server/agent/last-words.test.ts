import { expect, test } from 'vitest';
import { createLastWords } from './last-words.ts';

test('characters that are cut between chunks, of two streams at once, are whole', () => {
  const words = createLastWords();
  const bytes = Buffer.from('größer €');
  const errors = Buffer.from('é');
  for (let at = 0; at < bytes.length; at += 1) {
    words.hear('stdout', bytes.subarray(at, at + 1));
    if (at < errors.length) words.hear('stderr', errors.subarray(at, at + 1));
  }
  expect(words.text()).toBe('gréößer €');
});

test('the last 500 characters are kept, of which the first is no half of one', () => {
  const words = createLastWords();
  words.hear('stderr', Buffer.from(` ${'😀'.repeat(300)}x\n`));
  expect(words.text()).toMatch(/^(?:😀){249}x$/u);
  expect(words.text().isWellFormed()).toBe(true);
});
