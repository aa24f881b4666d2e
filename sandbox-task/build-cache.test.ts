import { mkdir, mkdtemp, readdir, readFile, rename, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { cacheBuild } from './build-cache.ts';

/** A folder of sources, and builds that number themselves. */
const open = async () => {
  const home = await mkdtemp(join(tmpdir(), 'sallyport-kept-'));
  const kept = join(home, 'kept');
  const sources = join(home, 'sources');
  await mkdir(sources);
  let builds = 0;
  const buildInto = async (folder: string) => {
    builds += 1;
    await writeFile(join(folder, 'program'), `build ${builds}`);
  };
  return {
    kept,
    build: (isHeld = false) => cacheBuild({ kept, sources: [sources], isHeld, buildInto }),
    change: (name: string, text: string) => writeFile(join(sources, name), text),
    touch: (name: string, seconds: number) => utimes(join(sources, name), seconds, seconds),
  };
};

const programOf = (folder: string) => readFile(join(folder, 'program'), 'utf8');

test('a build is made once for a state of its sources', async () => {
  const { kept, build, change, touch } = await open();
  await change('main.ts', 'one');
  const first = await build();
  expect(await programOf(first)).toBe('build 1');
  expect(await build()).toBe(first);

  await touch('main.ts', 1_000_000_000);
  const second = await build();
  expect(await programOf(second)).toBe('build 2');
  expect(await readdir(kept)).toEqual([basename(second)]);
});

test('a test, a document and a new build folder are no sources', async () => {
  const { build, change } = await open();
  await change('main.ts', 'one');
  const first = await build();
  await change('main.test.ts', 'two');
  await change('README.md', 'three');
  expect(await build()).toBe(first);
});

test('a build that a living process holds is not deleted, and one of a dead process is', async () => {
  const { kept, build, change } = await open();
  await change('main.ts', 'one');
  const held = await build(true);
  await change('main.ts', 'number two');
  const second = await build();
  expect(await programOf(held)).toBe('build 1');

  // No process has this number: the largest one is 4,194,304.
  await rename(join(held, `held-by-${process.pid}`), join(held, 'held-by-4194305'));
  await change('main.ts', 'and number three');
  const third = await build();
  expect(await readdir(dirname(third))).toEqual([basename(third)]);
  expect(await readdir(kept)).not.toContain(basename(second));
});
