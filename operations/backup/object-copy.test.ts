/** Entries of a shared volume, copied from one bucket into a folder and from there into another, by the real client. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type GetObjectCommandInput, S3Client } from '@aws-sdk/client-s3';
import { expect, onTestFinished, test } from 'vitest';
import { makeSharedBucket, sharedPrefix } from '#shared/adapters/aws/shared-bucket.ts';
import { entryOf, keyOf, type SharedEntry, wordsOf } from '../../functions/sandbox-link/shared-object.ts';
import { start } from '../../local/s3/start.ts';
import { makeFolder } from './folder.ts';
import { loadObjects, saveObjects } from './object-copy.ts';

const prefix = sharedPrefix('owner');
const bytesOf = { 'notes.txt': 'shared by all', docs: '', latest: '' };
type Path = keyof typeof bytesOf;
const paths = Object.keys(bytesOf) as readonly Path[];
const sha256 = 'a'.repeat(64);
const volume: Readonly<Record<Path, SharedEntry>> = {
  'notes.txt': { type: 'file', mode: 0o640, mtimeMs: 1_764_000_000_123.456, sha256 },
  docs: { type: 'directory', mode: 0o750 },
  latest: { type: 'symlink', target: 'notes.txt' },
};

const open = async () => {
  const home = await mkdtemp(join(tmpdir(), 'sallyport-objects-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const endpoint = await start({ folder: join(home, 's3'), buckets: ['the-old-one', 'the-new-one'] });
  onTestFinished(endpoint.stop);
  const client = new S3Client({
    ...{ endpoint: endpoint.url, region: 'us-east-1', credentials: endpoint.credentials },
    forcePathStyle: true,
  });
  onTestFinished(() => client.destroy());
  const asked: string[] = [];
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      (args) => {
        if (commandName === 'GetObjectCommand') asked.push((args.input as GetObjectCommandInput).Key ?? '');
        return next(args);
      },
    { step: 'initialize' },
  );
  const folder = join(home, 'backup');
  await makeFolder(folder);
  const key = (path: Path): string => keyOf(prefix, path) ?? '';
  const [old, made] = ['the-old-one', 'the-new-one'].map((bucket) => makeSharedBucket(client, bucket));
  const put = async (path: Path, entry: SharedEntry): Promise<void> => {
    const bytes = Buffer.from(bytesOf[path]);
    await old?.put(key(path), { words: wordsOf(entry) ?? {}, bytes });
  };
  for (const path of paths) await put(path, volume[path]);
  /** The number of entries that it reads. */
  const save = async (): Promise<number> => {
    asked.length = 0;
    await saveObjects({ client, bucket: 'the-old-one' }, folder);
    return asked.filter((key) => key.startsWith(prefix)).length;
  };
  const restore = async (): Promise<unknown> => {
    await loadObjects({ client, bucket: 'the-new-one' }, folder);
    const found = paths.map(async (path) => {
      const { words = {}, bytes = new Uint8Array() } = (await made?.take(key(path), 1000)) ?? {};
      return [path, [entryOf(words), Buffer.from(bytes).toString()]] as const;
    });
    return Object.fromEntries(await Promise.all(found));
  };
  return { folder, put, save, restore };
};

const whole = Object.fromEntries(paths.map((path) => [path, [volume[path], bytesOf[path]]]));

test('a shared volume is restored with the types, modes, times and targets of its entries', async () => {
  const { save, restore } = await open();
  await save();
  expect(await restore()).toEqual(whole);
});

test('a second backup has what changed in metadata alone, and reads nothing else', async () => {
  const { put, save, restore } = await open();
  expect(await save()).toBe(3);
  const [mode, target] = [0o600, 'docs'];
  await put('notes.txt', { ...volume['notes.txt'], mode } as SharedEntry);
  await put('latest', { type: 'symlink', target });
  expect(await save()).toBe(2);
  expect(await restore()).toEqual({
    ...whole,
    'notes.txt': [{ ...volume['notes.txt'], mode }, bytesOf['notes.txt']],
    latest: [{ type: 'symlink', target }, ''],
  });
});

test('an object that an earlier backup has without metadata is read again', async () => {
  const { folder, save, restore } = await open();
  await save();
  const file = join(folder, 'objects.jsonl');
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  const bare = lines.map((line) => ({ ...JSON.parse(line), metadata: undefined }));
  await writeFile(file, bare.map((object) => `${JSON.stringify(object)}\n`).join(''));
  expect(await save()).toBe(3);
  expect(await restore()).toEqual(whole);
});
