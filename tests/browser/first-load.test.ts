/** First load of the chat: the compressed size of every script, with the style and the font. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';

const repository = join(import.meta.dirname, '..', '..');
const scriptBytesMax = 130 * 1024;
const bytesMax = 180_000;

type Chunk = {
  readonly file: string;
  readonly isEntry?: boolean;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
  readonly assets?: readonly string[];
};

const folders: string[] = [];
const build = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-first-load-'));
  folders.push(folder);
  const vite = join(repository, 'node_modules', 'vite', 'bin', 'vite.js');
  const config = join(repository, 'web', 'vite.config.ts');
  const parameters = [
    vite,
    'build',
    '--config',
    config,
    '--manifest',
    '--outDir',
    folder,
    '--logLevel',
    'warn',
  ];
  await promisify(execFile)(process.execPath, parameters, { env: { NODE_ENV: 'production' } });
  return folder;
};
beforeAll(async () => void (await build()));
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

const filesOf = async (folder: string): Promise<ReadonlyMap<string, string>> => {
  const names = await readdir(join(folder, 'assets'));
  const texts = names.map(
    async (name) => [name, await readFile(join(folder, 'assets', name), 'utf8')] as const,
  );
  return new Map((await Promise.all(texts)).toSorted(([a], [b]) => a.localeCompare(b)));
};

test('the first load is small', async () => {
  const [folder = ''] = folders;
  const text = await readFile(join(folder, '.vite', 'manifest.json'), 'utf8');
  const manifest = JSON.parse(text) as Readonly<Record<string, Chunk>>;
  const seen = new Set<string>();
  const visit = (name: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const next of manifest[name]?.imports ?? []) visit(next);
  };
  const entries = Object.keys(manifest).filter((name) => manifest[name]?.isEntry);
  for (const name of [...entries, 'pages/chat/chat-page.vue']) visit(name);
  const files = [...seen].map((name) => manifest[name]?.file ?? '').filter((file) => file.endsWith('.js'));
  expect(files.length).toBeGreaterThan(1);
  const sizeOf = async (all: readonly string[]): Promise<number> => {
    const sizes = all.map(async (file) => gzipSync(await readFile(join(folder, file))).length);
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  };
  const bytes = await sizeOf(files);
  const others = [...seen].flatMap((name) => [
    ...(manifest[name]?.css ?? []),
    ...(manifest[name]?.assets ?? []),
  ]);
  expect(others.filter((file) => file.endsWith('.woff2'))).toHaveLength(1);
  expect(bytes + (await sizeOf(others))).toBeLessThan(bytesMax);
  expect(bytes).toBeGreaterThan(40 * 1024);
  expect(bytes).toBeLessThan(scriptBytesMax);
});

test('the page loads only its own hashed files and runs nothing inline', async () => {
  const [folder = ''] = folders;
  const html = await readFile(join(folder, 'index.html'), 'utf8');
  const named = Array.from(html.matchAll(/(?:src|href)="([^"]*)"/g), ([, path]) => path);
  expect(named.length).toBeGreaterThan(2);
  for (const path of named) expect(path).toMatch(/^\/assets\/[\w.-]+-[\w-]{8}\.(?:js|css|svg)$/);
  expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon\w+=/);
});

test('the build is reproducible', async () => {
  const [first = ''] = folders;
  expect(await filesOf(await build())).toEqual(await filesOf(first));
});
