/** The web app never makes markup of text: what could do that is not in its source. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repositoryFolder } from './repository.ts';

const files = globSync('web/**/*.{vue,ts,html,css}', {
  cwd: repositoryFolder,
  exclude: ['web/dist/**', 'web/**/*.test.ts'],
}).map((path) => ({ path, text: readFileSync(join(repositoryFolder, path), 'utf8') }));

const found = (pattern: RegExp, where = files): readonly string[] =>
  where.filter(({ text }) => pattern.test(text)).map(({ path }) => path);

test('the sources of the web app are read', () => {
  expect(files.filter(({ path }) => path.endsWith('.vue')).length).toBeGreaterThan(20);
});

test.each([
  [
    'makes markup of text',
    /v-html|innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment/,
  ],
  ['runs text', /\beval\(|new Function\(|setTimeout\(\s*['"`]/],
  ['names another origin', /https?:\/\/(?!www\.w3\.org\/|(?:[\w-]+\.)*example(?:[./]|\.(?:com|org)))[a-z]/],
])('nothing %s', (_, pattern) => {
  const strict = files.filter(({ path }) => !path.endsWith('env.d.ts'));
  expect(found(pattern, strict)).toEqual([]);
});

test('no attribute carries style: the policy of the page forbids it', () => {
  expect(found(/<[a-z][^>]*\sstyle="/)).toEqual([]);
});

test('no watch makes an array of its sources: a new array differs each time, and the watch runs for every change', () => {
  expect(found(/\bwatch\(\s*\(\) => \[/)).toEqual([]);
});

test('a component opens with a header that says what it is', () => {
  const silent = files.filter(
    ({ path, text }) => path.endsWith('.vue') && !/^<script (?:setup )?lang="ts"[^>]*>\n\/\*\*/.test(text),
  );
  expect(silent.map(({ path }) => path)).toEqual([]);
});
