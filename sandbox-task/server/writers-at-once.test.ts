/** Several writers of one name, and a disk that is full: a file is always one of them, and whole. */
import { randomUUID } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeTarHeader, tarEnd } from '#shared/contracts/tar.ts';
import { removeAfter } from './remove-after.ts';
import { startTestSandbox, type TestSandbox } from './sandbox-fixture.ts';

const fileBytesMax = 1_048_576;

let sandbox: TestSandbox;
let fullDisk: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
  // A limit of a file's size ends a write in its middle, as a full disk does.
  fullDisk = await startTestSandbox({}, { launcherOf: () => ['prlimit', `--fsize=${fileBytesMax}`] });
});
afterAll(async () => {
  await sandbox.stop();
  await fullDisk.stop();
});

const inside = (path: string): string => join(sandbox.workspace, path);
const put = async (
  path: string,
  body: Buffer | string,
  ...[range, id]: readonly string[]
): Promise<number> => {
  const headers = {
    ...(range === undefined ? {} : { 'content-range': range }),
    ...(id === undefined ? {} : { 'upload-id': id }),
  };
  return (await sandbox.ask('PUT', `/files/${path}`, { body, headers })).status;
};
const copy = async (from: string, to: string, query = ''): Promise<number> =>
  (await sandbox.ask('POST', `/files/${from}?op=copy&to=${to}${query}`)).status;

test('copies of one name at once: each is whole, and none takes the half of another', async () => {
  removeAfter(inside('from'), inside('to'));
  const content = Buffer.alloc(48 * 1_048_576, 'content');
  await writeFile(inside('from'), content);
  sandbox.own();
  const copies = [copy('from', 'to', '&overwrite=1'), copy('from', 'to', '&overwrite=1')];
  expect(await Promise.all(copies)).toEqual([200, 200]);
  expect((await readFile(inside('to'))).equals(content)).toBe(true);
  expect((await readdir(sandbox.workspace)).filter((name) => name.startsWith('.'))).toEqual([]);
});

test('copies of one folder at once: one gets the name, the other is told that it is taken', async () => {
  removeAfter(inside('folder'), inside('again'));
  await sandbox.callTool('execute_command', {
    command: 'mkdir -p folder/deep && cd folder && seq 1 600 | xargs touch && seq 1 600 > deep/numbers',
  });
  expect((await Promise.all([copy('folder', 'again'), copy('folder', 'again')])).toSorted()).toEqual([
    200, 409,
  ]);
  expect((await readdir(inside('again'))).length).toBe(601);
  expect(await readFile(inside('again/deep/numbers'), 'utf8')).toContain('600');
  expect((await readdir(sandbox.workspace)).filter((name) => name.startsWith('.'))).toEqual([]);
});

test('two files for one name are never mixed', async () => {
  removeAfter(inside('written'));
  const files = [Buffer.alloc(4 * 1_048_576, 'long'), Buffer.alloc(3_500_000, 'short')];
  for (let time = 0; time < 20; time += 1) {
    await Promise.all(files.map((content) => put('written', content)));
    const written = await readFile(inside('written'));
    expect(files.some((content) => content.equals(written))).toBe(true);
  }
});

test('two uploads in parts of one name, of different lengths, are not mixed', async () => {
  removeAfter(inside('parts'));
  expect(await put('parts', 'abc', 'bytes 0-2/6')).toBe(202);
  expect(await put('parts', 'xyz', 'bytes 0-2/7')).toBe(202);
  expect(await put('parts', 'def', 'bytes 3-5/6')).toBe(201);
  expect(await readFile(inside('parts'), 'utf8')).toBe('abcdef');
  expect(await put('parts', '----', 'bytes 3-6/7')).toBe(200);
  expect(await readFile(inside('parts'), 'utf8')).toBe('xyz----');
});

test('two uploads in parts of one name and one length, each with its id, are not mixed', async () => {
  removeAfter(inside('named'));
  const [one = '', other = ''] = [randomUUID(), randomUUID()];
  expect(await put('named', 'abc', 'bytes 0-2/6', one)).toBe(202);
  expect(await put('named', 'uvw', 'bytes 0-2/6', other)).toBe(202);
  const { body } = await sandbox.ask('GET', '/files?path=.');
  expect(body.toString()).not.toContain('partial');
  expect(await put('named', 'xyz', 'bytes 3-5/6', other)).toBe(201);
  expect(await readFile(inside('named'), 'utf8')).toBe('uvwxyz');
  expect(await put('named', 'def', 'bytes 3-5/6', one)).toBe(200);
  // The first answer again, and no change.
  expect(await put('named', 'xyz', 'bytes 3-5/6', other)).toBe(201);
  expect(await readFile(inside('named'), 'utf8')).toBe('abcdef');
  expect(await put('named', 'def', 'bytes 3-5/6', randomUUID())).toBe(409);
  expect(await put('named', 'abc', 'bytes 0-2/6', 'mine')).toBe(400);
  expect((await readdir(sandbox.workspace)).filter((name) => name.startsWith('.'))).toEqual([]);
});

const tarOf = (name: string, padding: number): Buffer => {
  const file = { path: name, type: 'file', mode: 0o644, mtimeMs: 0, size: 0 } as const;
  return gzipSync(Buffer.concat([encodeTarHeader(file), tarEnd(), Buffer.alloc(padding)]), { level: 0 });
};

test('two archives in parts for one folder, of different lengths, are not mixed', async () => {
  removeAfter(inside('archives'));
  const uploads = [tarOf('one', 0), tarOf('other', 512)];
  for (const from of [0, 500])
    for (const bytes of uploads) {
      const to = from === 0 ? 500 : bytes.length;
      await put(
        'archives?archive=tar.gz',
        bytes.subarray(from, to),
        `bytes ${from}-${to - 1}/${bytes.length}`,
      );
    }
  expect((await readdir(inside('archives'))).toSorted()).toEqual(['one', 'other']);
});

test('archives of one length for one folder at once, whole or in parts with an id, are each unpacked', async () => {
  removeAfter(inside('both'));
  const archives = ['one', 'two'].map((name) => tarOf(name, 0));
  const path = 'both?archive=tar.gz';
  for (let time = 0; time < 10; time += 1) {
    const statuses = await Promise.all(archives.map((bytes) => put(path, bytes)));
    for (const status of statuses) expect([200, 201]).toContain(status);
    expect((await readdir(inside('both'))).toSorted()).toEqual(['one', 'two']);
    await sandbox.callTool('execute_command', { command: 'rm -r both' });
  }
  const uploads = archives.map((bytes) => ({ bytes, id: randomUUID() }));
  for (const from of [0, 500])
    for (const { bytes, id } of uploads) {
      const to = from === 0 ? 500 : bytes.length;
      await put(path, bytes.subarray(from, to), `bytes ${from}-${to - 1}/${bytes.length}`, id);
    }
  expect((await readdir(inside('both'))).toSorted()).toEqual(['one', 'two']);
});

test('a file that has no room leaves the old one as it was, and a new one is not there', async () => {
  const write = async (path: string, body: string | Buffer): Promise<number> =>
    (await fullDisk.ask('PUT', `/files/${path}`, { body })).status;
  expect(await write('kept', 'old')).toBe(201);
  const tooLong = Buffer.alloc(2 * fileBytesMax, 'new');
  expect([await write('kept', tooLong), await write('new', tooLong)]).toEqual([400, 400]);
  expect(await readFile(join(fullDisk.workspace, 'kept'), 'utf8')).toBe('old');
  expect(await readdir(fullDisk.workspace)).toEqual(['kept']);
  expect(await write('kept', 'newer')).toBe(200);
  expect(await readFile(join(fullDisk.workspace, 'kept'), 'utf8')).toBe('newer');
});
