/** Uploads in parts, beside each other: two never mix, and those that nobody finishes keep a bounded part of the disk. */
import { randomUUID } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { encodeTarHeader, tarEnd } from '#shared/contracts/tar.ts';
import { unpackSteps, writeArchivePart } from './unpack-folder.ts';
import { writePart } from './upload-parts.ts';

let scratch: string;
let workspace: string;
beforeEach(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), 'sallyport-uploads-')));
  workspace = join(scratch, 'workspace');
  mkdirSync(workspace);
});
afterEach(() => rmSync(scratch, { recursive: true }));

type Upload = { readonly upload?: string; readonly path?: string; readonly total?: number };

/** Sends some text of an upload from a byte on. */
const send = (start: number, text: string, { upload, path = 'a', total = 6 }: Upload) =>
  writePart({ workspace }, { path, start, total, upload }, Buffer.from(text));
const beginning = { failure: 'conflict', message: 'the next part must start at byte 0' };
const content = (path = 'a'): string => readFileSync(join(workspace, path), 'utf8');
const partials = (): readonly string[] =>
  readdirSync(workspace).filter((name) => name.startsWith('.sallyport-partial-'));

test('two uploads of one name and one length are not mixed: the last that ends wins as a whole', async () => {
  const [one, other] = [{ upload: randomUUID() }, { upload: randomUUID() }];
  expect(await send(0, 'abc', one)).toEqual({ received: 3 });
  expect(await send(0, 'uvw', other)).toEqual({ received: 3 });
  expect(await send(3, 'xyz', other)).toEqual({ isNew: true, size: 6 });
  expect(content()).toBe('uvwxyz');
  expect(await send(3, 'def', one)).toEqual({ isNew: false, size: 6 });
  expect(content()).toBe('abcdef');
  expect(partials()).toEqual([]);
});

test('an upload with an id, and one without, are not mixed', async () => {
  const named = { upload: randomUUID() };
  await send(0, 'abc', named);
  await send(0, 'uvw', {});
  await send(3, 'def', named);
  expect(content()).toBe('abcdef');
  await send(3, 'xyz', {});
  expect(content()).toBe('uvwxyz');
});

test('an id names an upload of one path and one length only', async () => {
  const upload = randomUUID();
  await send(0, 'abc', { upload });
  await send(0, 'uvw', { upload, path: 'b' });
  await send(0, '123', { upload, total: 5 });
  await send(3, 'def', { upload });
  await send(3, 'xyz', { upload, path: 'b' });
  expect([content(), content('b')]).toEqual(['abcdef', 'uvwxyz']);
  await send(3, '45', { upload, total: 5 });
  expect(content()).toBe('12345');
});

test('a part that comes again is answered as before, and one whose beginning is not here is refused', async () => {
  const one = { upload: randomUUID() };
  await expect(send(3, 'def', one)).rejects.toMatchObject(beginning);
  for (let time = 0; time < 2; time += 1) expect(await send(0, 'ab', one)).toEqual({ received: 2 });
  for (let time = 0; time < 2; time += 1) expect(await send(2, 'cd', one)).toEqual({ received: 4 });
  await expect(send(2, 'c?', one)).rejects.toMatchObject({
    message: 'the next part must start at byte 4',
  });
  await send(4, 'ef', one);
  expect(content()).toBe('abcdef');
  await expect(send(4, 'ef', one)).rejects.toMatchObject(beginning);
});

test('a folder that is removed or moved meanwhile does not end an upload', async () => {
  const deep = { upload: randomUUID(), path: 'some/folder/a' };
  await send(0, 'abc', deep);
  expect(readdirSync(join(workspace, 'some/folder'))).toEqual([]);
  rmSync(join(workspace, 'some'), { recursive: true });
  expect(await send(3, 'def', deep)).toEqual({ isNew: true, size: 6 });
  expect(content('some/folder/a')).toBe('abcdef');
});

test('parts of a file in the shared folder are gathered there, also where the workspace has a link to it', async () => {
  const sharedPath = join(scratch, 'shared');
  mkdirSync(sharedPath);
  symlinkSync(sharedPath, join(workspace, 'link'));
  const roots = { workspace, sharedPath };
  const part = { path: 'link/a', total: 6, upload: randomUUID() };
  await writePart(roots, { ...part, start: 0 }, Buffer.from('abc'));
  expect([readdirSync(sharedPath).length, partials()]).toEqual([1, []]);
  await writePart(roots, { ...part, start: 3 }, Buffer.from('def'));
  expect(readFileSync(join(sharedPath, 'a'), 'utf8')).toBe('abcdef');
});

const minutesMs = 60_000;

/** Begins an upload, and lets time go by. */
const begin = async (minutesAgo: number, total = 6): Promise<Upload> => {
  const before = new Set(partials());
  const begun = { upload: randomUUID(), total };
  await send(0, 'abc', begun);
  const [own = ''] = partials().filter((name) => !before.has(name));
  const at = new Date(Date.now() - minutesAgo * minutesMs);
  utimesSync(join(workspace, own), at, at);
  return begun;
};

test('an upload that got no part for an hour goes when another begins, and must begin again', async () => {
  const [old, young] = [await begin(61), await begin(59)];
  await begin(0);
  expect(partials()).toHaveLength(2);
  await expect(send(3, 'def', old)).rejects.toMatchObject(beginning);
  expect(await send(3, 'def', young)).toEqual({ isNew: true, size: 6 });
  expect(content()).toBe('abcdef');
});

test('100 unfinished uploads are kept: the one that waits longest goes', async () => {
  const waiting: Upload[] = [];
  for (let minutes = 50; minutes > 0; minutes -= 0.5) waiting.push(await begin(minutes));
  expect(partials()).toHaveLength(100);
  const [longest = {}, next = {}] = waiting;
  // It waits no longer.
  await send(0, 'abc', longest);
  await begin(0);
  expect(partials()).toHaveLength(100);
  await expect(send(3, 'def', next)).rejects.toMatchObject(beginning);
  expect(await send(3, 'def', longest)).toMatchObject({ size: 6 });
});

test('unfinished uploads are of 4 GiB together: those that wait longest go, others stay', async () => {
  const bytes = 2 * 1024 ** 3;
  const [longest, longer] = [await begin(20, bytes), await begin(10, bytes)];
  const small = await begin(30);
  expect(partials()).toHaveLength(2);
  await expect(send(3, 'd', longest)).rejects.toMatchObject(beginning);
  expect(await send(3, 'd', longer)).toEqual({ received: 4 });
  expect(await send(3, 'def', small)).toMatchObject({ size: 6 });
});

test('what is no upload with an id stays: a file, a folder, and parts without an id', async () => {
  const name = `.sallyport-partial-upload-6-${'0'.repeat(32)}`;
  mkdirSync(join(workspace, name));
  writeFileSync(join(workspace, 'own'), '');
  await send(0, 'abc', {});
  for (const path of readdirSync(workspace)) utimesSync(join(workspace, path), 1, 1);
  await begin(0);
  expect(readdirSync(workspace)).toHaveLength(4);
  expect(await send(3, 'def', {})).toEqual({ isNew: true, size: 6 });
});

const archiveOf = (name: string): Buffer => {
  const file = { path: name, type: 'file', mode: 0o644, mtimeMs: 0, size: 0 } as const;
  return gzipSync(Buffer.concat([encodeTarHeader(file), tarEnd()]), { level: 0 });
};

test('two archives of one length for one folder are not mixed', async () => {
  const archives = ['one', 'two'].map((name) => ({ bytes: archiveOf(name), upload: randomUUID() }));
  const put = ({ bytes, upload }: (typeof archives)[number], start: number, end: number) =>
    writeArchivePart(
      { workspace },
      { path: 'f', start, total: bytes.length, upload },
      bytes.subarray(start, end),
    );
  for (const archive of archives) await put(archive, 0, 500);
  for (const archive of archives)
    expect(await put(archive, 500, archive.bytes.length)).toBe(archive.bytes.length);
  const unpack = async ({ bytes, upload }: (typeof archives)[number]): Promise<void> => {
    for await (const _ of unpackSteps({ workspace }, { path: 'f', total: bytes.length, upload }));
  };
  for (const archive of archives) await unpack(archive);
  expect(readdirSync(join(workspace, 'f')).toSorted()).toEqual(['one', 'two']);
  expect(partials()).toEqual([]);
  // One that has gone meanwhile.
  for (const archive of archives) await expect(unpack(archive)).rejects.toMatchObject(beginning);
});
