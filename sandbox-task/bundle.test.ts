/** The code that a start of the sandbox's server loads: not the library of MCP, which comes behind the first answer. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundleSandbox, serverFiles } from './bundle.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-bundle-'));
  await bundleSandbox(folder);
});
afterAll(() => rm(folder, { recursive: true }));

const read = (name: string): Promise<string> => readFile(join(folder, name), 'utf8');
const staticImports = (text: string): readonly (string | undefined)[] =>
  [...text.matchAll(/(?:^|[;}\n])import[^(;]*?["'](\.\/[^"']+)["']/g)].map(([, path]) => path);

test('a start loads two files, of 300 kB at most', async () => {
  const [server, , shared] = serverFiles;
  const texts = await Promise.all([server, shared].map(read));
  expect(texts.map(staticImports)).toEqual([[`./${shared}`], []]);
  expect(texts.join('').length).toBeLessThan(300_000);
});

test('the library of MCP is in the file that is loaded later', async () => {
  const [server, protocol] = serverFiles;
  expect(await read(server)).toMatch(/import\(["']\.\/protocol\.mjs["']\)/);
  expect((await read(protocol)).length).toBeGreaterThan(300_000);
});
