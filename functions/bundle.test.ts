/** Bundles of one machine, and what they share; the sizes of those for AWS are measured by `npm run bench -- speed`. */
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { environments, type FunctionName } from '#shared/config/environment.ts';
import { bundleTogether } from './bundle.ts';

/** Below the packages, so that what is left out of a bundle is found. */
const folder = await mkdtemp(resolve(import.meta.dirname, '..', 'node_modules', '.bundle-test-'));
afterAll(() => rm(folder, { recursive: true, force: true }));
await bundleTogether(folder);

const names = Object.keys(environments) as FunctionName[];

test('the entry of a function holds its handler alone, for it is loaded once for each environment', async () => {
  const sizes = await Promise.all(
    names.map(async (name) => [name, (await stat(join(folder, name, 'index.mjs'))).size] as const),
  );
  expect(sizes.filter(([, bytes]) => bytes > 20_000)).toEqual([]);
});

test('each entry exports a handler, and refuses to start without settings in one line', async () => {
  for (const name of names) {
    const entry = await readFile(join(folder, name, 'index.mjs'), 'utf8');
    expect(entry).toMatch(/export\{.*handler.*\}/s);
    await expect(import(join(folder, name, 'index.mjs'))).rejects.toThrow(
      new RegExp(`^${name} cannot start: `),
    );
  }
});
