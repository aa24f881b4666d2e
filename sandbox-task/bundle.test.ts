/**
 * The code that a start of the sandbox's server loads to its first answer: neither its routes nor the library of MCP nor what carries
 * turns of programs. The routes come behind it, the others with the first request that needs them, as do most schemas.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundleSandbox } from './bundle.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-bundle-'));
  await bundleSandbox(folder);
});
afterAll(() => rm(folder, { recursive: true }));

const read = (name: string): Promise<string> => readFile(join(folder, name), 'utf8');
const staticImports = (text: string): readonly (string | undefined)[] =>
  [...text.matchAll(/(?:^|[;}\n])import[^(;]*?["']\.\/([^"']+)["']/g)].map(([, path]) => path);

/** The file and all that is loaded before its first line runs. */
const loadedWith = async (name: string, seen: readonly string[] = []): Promise<readonly string[]> => {
  if (seen.includes(name)) return seen;
  let all = [...seen, name];
  for (const path of staticImports(await read(name))) all = [...(await loadedWith(path ?? '', all))];
  return all;
};

test('a start loads four files, of 30 kB at most', async () => {
  const files = await loadedWith('server.mjs');
  expect(files.toSorted()).toEqual([
    'server.mjs',
    'shared-server-routes-agents.mjs',
    'shared-server-routes-protocol-agents.mjs',
    'shared-server-routes.mjs',
  ]);
  expect((await Promise.all(files.map(read))).join('').length).toBeLessThan(30_000);
});

test('the routes are loaded later; the library of MCP and what carries turns of programs, with a first request', async () => {
  expect(await read('server.mjs')).toMatch(/import\(["']\.\/routes\.mjs["']\)/);
  expect(await read('routes.mjs')).toMatch(/import\(["']\.\/protocol\.mjs["']\)/);
  expect(await read('routes.mjs')).toMatch(/import\(["']\.\/agents\.mjs["']\)/);
  const routes = await loadedWith('routes.mjs');
  expect(routes.filter((name) => ['protocol.mjs', 'agents.mjs'].includes(name))).toEqual([]);
  expect((await Promise.all(routes.map(read))).join('').length).toBeLessThan(250_000);
  expect((await read('agents.mjs')).length).toBeGreaterThan(30_000);
  expect((await read('protocol.mjs')).length).toBeGreaterThan(300_000);
});

/** The library of schemas hands each one to this hook of its own. */
const countSchemas = `
let made = 0;
globalThis.__zod_globalConfig = { postProcessor: () => { made += 1; } };
await import(process.argv[1]);
process.stdout.write(String(made));`;

test('the routes make the schemas of a first command, and those of other requests when they come', async () => {
  const routes = join(folder, 'routes.mjs');
  const parameters = ['--input-type=module', '-e', countSchemas, routes];
  const { stdout } = await promisify(execFile)(process.execPath, parameters);
  expect(Number(stdout)).toBeGreaterThan(0);
  expect(Number(stdout)).toBeLessThan(150);
});

test('the runner, which no call goes without, has no schema and no library for any', async () => {
  expect(await loadedWith('runner.mjs')).toEqual(['runner.mjs']);
  expect((await read('runner.mjs')).length).toBeLessThan(100_000);
});

/** Written when the program ends: whether Node loaded its own code for hashes. */
const sayCrypto = `data:text/javascript,process.once("exit",()=>process.stderr.write(String(process.moduleLoadList.includes("NativeModule crypto"))))`;

test('the runner is ready without the module of hashes', async () => {
  const settings = JSON.stringify({ workspace: folder, nodePath: process.execPath, processesMax: 256 });
  const runner = spawn(process.execPath, ['--import', sayCrypto, join(folder, 'runner.mjs'), settings], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  const said = text(runner.stdio[2] as Readable);
  const pipe = runner.stdio[3] as Duplex;
  await once(pipe, 'data');
  pipe.destroy();
  expect(await said).toBe('false');
});
