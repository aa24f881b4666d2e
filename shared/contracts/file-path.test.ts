/** Paths that no file can have. */
import { expect, test } from 'vitest';
import { filePathProblem } from './file-path.ts';

test.each([
  ['nothing', '', 'a path of at least one character'],
  ['a NUL', 'a\0b', 'a path without NUL characters'],
  ['half a character', 'a\ud800', 'a path without halves of characters'],
  ['two halves in the wrong order', '\udc00\ud800', 'a path without halves of characters'],
  ['4096 bytes', 'd/'.repeat(2048), 'a path of at most 4095 bytes'],
  ['more bytes than characters', 'ü/'.repeat(1400), 'a path of at most 4095 bytes'],
  ['a step of 256 bytes', `a/${'ü'.repeat(128)}/b`, 'a path with at most 255 bytes between two slashes'],
])('%s is refused', (_name, path, problem) => {
  expect(filePathProblem(path)).toBe(problem);
});

test.each([
  'a',
  '.',
  '../a',
  '/workspace//a/./b',
  `${'d/'.repeat(2047)}d`,
  'n'.repeat(255),
  '\u{1f600}',
  'a\nb\u001b',
])('%j can be a path', (path) => {
  expect(filePathProblem(path)).toBe(undefined);
});
