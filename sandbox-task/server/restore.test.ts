/** Restores by a real server and runner: W10, byte for byte, and what an archive cannot do. */
import { randomBytes, randomUUID } from 'node:crypto';
import {
  chmod,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ArchiveHeader, encodeArchiveFrame } from '#shared/contracts/archive.ts';
import { settleMs } from '../runner/file-index.ts';
import {
  type Archive,
  collectArchive,
  sha256Of,
  startTestSandbox,
  type TestSandbox,
} from './sandbox-fixture.ts';

let target: TestSandbox;
beforeEach(async () => {
  target = await startTestSandbox();
});
afterEach(() => target.stop());

type Piece = readonly [ArchiveHeader, (Buffer | string)?];
const begin: Piece = [{ type: 'begin', isFull: true }];
const end: Piece = [{ type: 'end' }];
const bytesOf = (pieces: readonly Piece[]): Buffer =>
  Buffer.concat(pieces.map(([header, payload = '']) => encodeArchiveFrame(header, Buffer.from(payload))));
const file = (path: string, content: Buffer | string, sha256 = sha256Of(content)): Piece[] => {
  const size = Buffer.from(content).length;
  return [
    [{ type: 'file', path, mode: 0o644, mtimeMs: 1_700_000_000_000, size, sha256 }],
    ...cut(Buffer.from(content)).map((part): Piece => [{ type: 'data' }, part]),
    [{ type: 'file-end', size, isWhole: true }],
  ];
};
const cut = (content: Buffer): Buffer[] => {
  const parts: Buffer[] = [];
  for (let at = 0; at < content.length; at += 262_144) parts.push(content.subarray(at, at + 262_144));
  return parts;
};

let claims = 0;
const restoreBytes = async (bytes: Buffer, id = randomUUID()) => {
  claims += 1;
  const path = `/restore?id=${id}&claim=${claims}`;
  const { status, body } = await target.ask('POST', path, { body: Readable.from(cut(bytes)) });
  return { status, body: JSON.parse(body.toString()) as unknown };
};
const restore = (pieces: readonly Piece[], id = randomUUID()) =>
  restoreBytes(bytesOf([begin, ...pieces, end]), id);
const checkpoint = async (sandbox: TestSandbox, id: string, base = ''): Promise<Archive> =>
  collectArchive(await sandbox.open('GET', `/checkpoint?id=${id}&base=${base}`));
const inside = (path: string): string => join(target.workspace, path);

/** Every entry under a folder, as the disk has it. */
const look = async (folder: string, path = ''): Promise<Record<string, unknown>> => {
  const found: Record<string, unknown> = {};
  for (const name of (await readdir(join(folder, path))).toSorted()) {
    const below = join(path, name);
    const place = join(folder, below);
    const stat = await lstat(place, { bigint: true });
    const mode = Number(stat.mode);
    const mtimeMicroseconds = stat.mtimeNs / 1000n;
    const type = mode & 0o170000;
    if (type === 0o120000) found[below] = await readlink(place);
    else if (type === 0o040000) Object.assign(found, { [below]: mode & 0o777 }, await look(folder, below));
    else found[below] = { mode: mode & 0o777, mtimeMicroseconds, sha256: sha256Of(await readFile(place)) };
  }
  return found;
};

test('W10: a workspace is restored byte for byte in another one, which then knows its state', async () => {
  await using source = await disposableSandbox();
  const from = (path: string): string => join(source.workspace, path);
  await mkdir(from('tree/read only'), { recursive: true });
  await mkdir(from('empty'), { mode: 0o700 });
  await writeFile(from('tree/empty'), '');
  await writeFile(from('tree/run'), '#!/bin/sh\n', { mode: 0o755 });
  await writeFile(from('tree/read only/secret'), 'x', { mode: 0o400 });
  await writeFile(from('spaces and\nnewline ünï 🙂'), randomBytes(1_000_003));
  await symlink('/etc/passwd', from('absolute'));
  await symlink('../..', from('tree/up'));
  await symlink('nowhere', from('dangling'));
  await utimes(from('tree/run'), 1_600_000_000.25, 1_600_000_000.25);
  const large = randomBytes(50 * 1_048_576);
  for (let at = 0; at < large.length; at += 4_194_304) {
    const part = large.subarray(at, at + 4_194_304);
    const range = `bytes ${at}-${at + part.length - 1}/${large.length}`;
    const { status } = await source.ask('PUT', '/files/large.bin', {
      body: part,
      headers: { 'content-range': range },
    });
    expect(status).toBe(at + part.length < large.length ? 202 : 201);
  }
  await chmod(from('tree/read only'), 0o500);
  source.own();
  await delay(2 * settleMs);
  const saved = await checkpoint(source, randomUUID());
  const pieces = saved.entries.flatMap(({ content, isWhole: _, ...entry }): Piece[] => {
    if (content === undefined) return [[entry as ArchiveHeader]];
    const [, ...rest] = file(entry.path, content);
    return [[{ ...entry, sha256: sha256Of(content) } as ArchiveHeader], ...rest];
  });
  const id = randomUUID();
  expect(await restore(pieces, id)).toEqual({ status: 200, body: { files: 5, missing: [] } });
  expect(await look(target.workspace)).toEqual(await look(source.workspace));

  const next = await checkpoint(target, randomUUID(), id);
  expect(next.isFull).toBe(false);
  expect(next.entries.filter(({ type, same }) => type === 'file' && !same)).toEqual([]);
  await writeFile(inside('tree/run'), '#!/bin/sh\n# 2\n');
  const changed = await checkpoint(target, randomUUID(), id);
  expect(changed.entries.filter(({ content }) => content).map(({ path }) => path)).toEqual(['tree/run']);
});

const disposableSandbox = async () => {
  const sandbox = await startTestSandbox();
  return { ...sandbox, [Symbol.asyncDispose]: () => sandbox.stop() };
};

test('content that is wrong, incomplete or absent is reported missing, and the old file stays', async () => {
  await writeFile(inside('tampered'), 'old');
  const id = randomUUID();
  const wrong = sha256Of('another');
  const header = { type: 'file' as const, mode: 0o644, mtimeMs: 0, size: 4 };
  const outcome = await restore(
    [
      ...file('good', 'good'),
      ...file('tampered', 'evil', wrong),
      [{ ...header, path: 'cut', sha256: sha256Of('1234') }],
      [{ type: 'data' }, '1234'],
      [{ type: 'file-end', size: 4, isWhole: false }],
      [{ ...header, path: 'hashless' }],
      [{ type: 'data' }, '1234'],
      [{ type: 'file-end', size: 4, isWhole: true }],
      [{ ...header, path: 'same', same: true }],
    ],
    id,
  );
  expect(outcome).toEqual({
    status: 200,
    body: {
      files: 1,
      missing: [
        { path: 'tampered', reason: 'its content differs from what was saved' },
        { path: 'cut', reason: 'its content is not whole' },
        { path: 'hashless', reason: 'its content differs from what was saved' },
        { path: 'same', reason: 'the archive does not hold its content' },
      ],
    },
  });
  expect(await readdir(target.workspace)).toEqual(['good', 'tampered']);
  expect(await readFile(inside('tampered'), 'utf8')).toBe('old');
  const next = await checkpoint(target, randomUUID(), id);
  expect(next.entries.map(({ path, same }) => [path, same])).toEqual([
    ['good', true],
    ['tampered', undefined],
  ]);
});

test('W10: no entry is written outside, by its path or through a link, restored or existing', async () => {
  const outside = join(target.workspace, '..', 'outside');
  await mkdir(outside, { mode: 0o777 });
  await chmod(outside, 0o777);
  await symlink(outside, inside('old link'));
  const escaped = join(tmpdir(), `sallyport-escaped-${randomUUID()}`);
  const names = ['../outside/a', escaped, 'x/../../outside/b', 'nul\0', './dot', 'a//b', 'end/'];
  const { body } = await restore([
    [{ type: 'symlink', path: 'link', target: outside }],
    ...file('link/c', 'c'),
    [{ type: 'directory', path: 'link/d', mode: 0o755 }],
    [{ type: 'symlink', path: 'link/e', target: 'x' }],
    ...file('old link/f', 'f'),
    ...names.flatMap((name) => file(name, 'x')),
    ...file('deep/folder/made/file', 'fine'),
  ]);
  expect(body).toEqual({
    files: 1,
    missing: [
      ...['link/c', 'link/d', 'link/e', 'old link/f'].map((path) => ({
        path,
        reason: 'its folder is not a folder',
      })),
      ...names.map((path) => ({ path, reason: 'its path is not one of the workspace' })),
    ],
  });
  expect(await readdir(outside)).toEqual([]);
  await expect(lstat(escaped)).rejects.toThrow('ENOENT');
});

test('W10: a link is replaced, not followed: by a file, a folder and another link', async () => {
  const outside = join(target.workspace, '..', 'victim');
  await writeFile(outside, 'untouched', { mode: 0o666 });
  for (const name of ['file', 'folder', 'link']) await symlink(outside, inside(name));
  const { body } = await restore([
    ...file('file', 'new'),
    [{ type: 'directory', path: 'folder', mode: 0o700 }],
    [{ type: 'symlink', path: 'link', target: 'file' }],
  ]);
  expect(body).toEqual({ files: 1, missing: [] });
  expect(await readFile(outside, 'utf8')).toBe('untouched');
  expect(await readlink(inside('link'))).toBe('file');
  expect((await lstat(inside('folder'))).mode & 0o777).toBe(0o700);
});

test('an entry that cannot be created is missing, and the others are restored', async () => {
  await target.callTool('execute_command', { command: 'mkdir -p taken/full; touch taken/full/x' });
  const { body } = await restore([
    ...file('taken', 'x'),
    [{ type: 'symlink', path: 'taken/full', target: 'x' }],
    ...file('n'.repeat(256), 'x'),
    ...file('fine', 'x'),
  ]);
  expect(body).toEqual({
    files: 1,
    missing: [
      { path: 'taken', reason: 'EISDIR: illegal operation on a directory' },
      { path: 'taken/full', reason: 'EISDIR: illegal operation on a directory' },
      { path: 'n'.repeat(256), reason: 'ENAMETOOLONG: name too long' },
    ],
  });
});

test.each<[string, Buffer]>([
  ['without its end', bytesOf([begin, ...file('written', 'x')])],
  ['cut inside a frame', bytesOf([begin, ...file('written', 'x'), end]).subarray(0, -3)],
  ['with something after its end', bytesOf([begin, ...file('written', 'x'), end, ...file('late', 'x')])],
  ['without its beginning', bytesOf([...file('early', 'x'), end])],
  ['of nothing', Buffer.alloc(0)],
  ['of something else', Buffer.from('{"error": "this is no archive at all"}')],
  ['with content that belongs to nothing', bytesOf([begin, [{ type: 'data' }, 'x'], end])],
])('an archive %s is refused and leaves no index', async (_, bytes) => {
  const id = randomUUID();
  const outcome = await restoreBytes(bytes, id);
  expect(outcome).toMatchObject({ status: 400, body: { error: { code: 'invalid_request' } } });
  expect((await checkpoint(target, randomUUID(), id)).isFull).toBe(true);
  expect((await readdir(target.workspace)).filter((name) => name !== 'written')).toEqual([]);
});

test('a restore under an earlier claim, or a second one under the same, is refused', async () => {
  const send = async (claim: string, content: string) => {
    const path = `/restore?id=${randomUUID()}&claim=${claim}`;
    const { status } = await target.ask('POST', path, { body: bytesOf([begin, ...file('a', content), end]) });
    return [status, await readFile(inside('a'), 'utf8').catch(() => 'no file')];
  };
  expect(await send('', 'none')).toEqual([400, 'no file']);
  expect(await send('2', 'two')).toEqual([200, 'two']);
  await writeFile(inside('a'), 'work');
  expect(await send('1', 'one')).toEqual([409, 'work']);
  expect(await send('2', 'two')).toEqual([409, 'work']);
  expect(await send('3', 'three')).toEqual([200, 'three']);
});

test('a later restore ends one that hangs', async () => {
  const hanging = new Readable({ read: () => undefined });
  hanging.push(bytesOf([begin]));
  const first = target.ask('POST', `/restore?id=${randomUUID()}&claim=1`, { body: hanging });
  first.catch(() => undefined);
  await delay(200);
  const path = `/restore?id=${randomUUID()}&claim=2`;
  const { status } = await target.ask('POST', path, { body: bytesOf([begin, ...file('a', 'two'), end]) });
  expect([status, await readFile(inside('a'), 'utf8')]).toEqual([200, 'two']);
});
