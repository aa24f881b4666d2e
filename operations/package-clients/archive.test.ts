/** Archives that other programs read, with bytes that hang on the files alone. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { archiveOf } from './archive.ts';

const makeFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-archive-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

test('an archive has each file below its prefix, whatever its length', async () => {
  const folder = makeFolder();
  mkdirSync(join(folder, 'src', 'empty'), { recursive: true });
  for (const size of [0, 511, 512, 513]) writeFileSync(join(folder, 'src', `${size}.txt`), 'a'.repeat(size));
  const file = join(makeFolder(), 'a.tgz');
  writeFileSync(file, await archiveOf(folder, 'package'));
  const listed = execFileSync('tar', ['tzf', file], { encoding: 'utf8' }).trim().split('\n');
  expect(listed).toEqual(['0', '511', '512', '513'].map((name) => `package/src/${name}.txt`));
  expect(execFileSync('tar', ['xzOf', file, 'package/src/513.txt'], { encoding: 'utf8' })).toHaveLength(513);
});

test('the same files give the same bytes on another day and for another user', async () => {
  const folder = makeFolder();
  const file = join(folder, 'a.txt');
  writeFileSync(file, 'a');
  const first = await archiveOf(folder, 'package');
  utimesSync(file, 1, 1);
  chmodSync(file, 0o600);
  expect(await archiveOf(folder, 'package')).toEqual(first);
  writeFileSync(file, 'b');
  expect(await archiveOf(folder, 'package')).not.toEqual(first);
});
