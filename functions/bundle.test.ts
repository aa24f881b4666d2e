/** Bundles of one machine, and what they share; the sizes of those for AWS are measured by `npm run bench -- speed`. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { environments, type FunctionName } from '#shared/config/environment.ts';
import { bundleHandler, bundleProgram, bundleTogether } from './bundle.ts';
import { toolbox } from './mcp/toolbox.ts';

const execute = promisify(execFile);

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

/** In a process of its own, for a bundle changes how stack traces are written. */
const stacksOfStarts = async (entries: readonly string[]): Promise<readonly string[]> => {
  const urls = JSON.stringify(entries.map((entry) => pathToFileURL(entry).href));
  const program = `const starts = await Promise.allSettled(${urls}.map((url) => import(url)));
    process.stdout.write(JSON.stringify(starts.map(({ reason }) => reason.stack)));`;
  const { stdout } = await execute(process.execPath, ['--input-type=module', '-e', program], { env: {} });
  return JSON.parse(stdout);
};

test('each entry exports a handler, and refuses to start without settings in one line', async () => {
  const entries = names.map((name) => join(folder, name, 'index.mjs'));
  for (const entry of entries) expect(await readFile(entry, 'utf8')).toMatch(/export\{.*handler.*\}/s);
  const stacks = await stacksOfStarts(entries);
  for (const [index, name] of names.entries())
    expect(stacks[index]).toMatch(new RegExp(`^Error: ${name} cannot start: .*\n    at `));
});

test('a stack trace names the sources, of a function alone and of those that share a process', async () => {
  const alone = join(folder, 'alone');
  await bundleHandler('authorizer', alone);
  const source = resolve(import.meta.dirname, '../shared/config/environment.ts');
  const entries = [join(alone, 'index.mjs'), join(folder, 'authorizer', 'index.mjs')];
  for (const stack of await stacksOfStarts(entries)) expect(stack).toContain(`(${source}:`);
});

test('a bundle describes the fields of tools as the sources do', async () => {
  const described = join(folder, 'described');
  await bundleProgram(
    `import { toolbox } from './functions/mcp/toolbox.ts'; process.stdout.write(JSON.stringify(toolbox));`,
    described,
  );
  const { stdout } = await execute(process.execPath, [join(described, 'index.mjs')], { env: {} });
  expect(JSON.parse(stdout)).toEqual(JSON.parse(JSON.stringify(toolbox)));
  expect(stdout).toContain('"maximum"');
});
