/** Folders that are larger than one question or the memory may be: removed and walked in steps, listed in part. */
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openCheckpoint } from './checkpoint.ts';
import { firstNames } from './files.ts';
import { removeStep } from './remove-path.ts';

let workspace: string;
beforeAll(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'sallyport-large-'));
});
afterAll(() => rm(workspace, { recursive: true }));

test('a folder is removed in steps, each of which removes something', async () => {
  await mkdir(join(workspace, 'wide/deep/er'), { recursive: true });
  await mkdir(join(workspace, 'wide/empty'));
  for (const name of ['one', 'deep/two', 'deep/er/three', 'deep/er/four'])
    await writeFile(join(workspace, 'wide', name), '');
  let steps = 0;
  for (; !(await removeStep({ workspace }, 'wide', 0)); steps += 1) expect(steps).toBeLessThan(9);
  expect(steps).toBeGreaterThan(0);
  expect(await readdir(workspace)).toEqual([]);
});

test('the first names of a folder are found without all of them', async () => {
  const names = Array.from({ length: 300 }, (_, at) => String(at));
  await mkdir(join(workspace, 'names'));
  for (const name of names) await writeFile(join(workspace, 'names', name), '');
  const first = await firstNames(join(workspace, 'names'), 'names', 20);
  expect(first).toEqual({ names: names.toSorted().slice(0, 20), isCut: true });
  const all = await firstNames(join(workspace, 'names'), 'names', 300);
  expect(all).toEqual({ names: names.toSorted(), isCut: false });
  await rm(join(workspace, 'names'), { recursive: true });
});

test('a checkpoint walks while its pieces are asked for, and not at its start', async () => {
  await mkdir(join(workspace, 'many'));
  for (let at = 0; at < 1100; at += 1) await writeFile(join(workspace, 'many', String(at)), '');
  const checkpoint = openCheckpoint(workspace, undefined);
  const first = [checkpoint.next(), checkpoint.next()].map(({ bytes, isLast }) => [bytes.length, isLast]);
  expect(first).toEqual([
    [0, false],
    [0, false],
  ]);
  expect(checkpoint.next().bytes.toString()).toContain('"path":"many/1099"');
  checkpoint.close();
});
