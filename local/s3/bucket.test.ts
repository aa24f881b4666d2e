/** One bucket on disk, under writers of the same key and with many objects. */
import { execFile } from 'node:child_process';
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, onTestFinished, test, vi } from 'vitest';
import { onSync } from '../../tests/on-sync.ts';
import { type Bucket, openBucket } from './bucket.ts';

const makeFolder = () => mkdtemp(join(tmpdir(), 'sallyport-bucket-'));

const write = async (bucket: Bucket, key: string, text: string): Promise<void> => {
  const { handle, commit } = await bucket.draft();
  await handle.writeFile(text);
  await commit({ key, size: text.length, etag: text, headers: {} });
};

const textOf = async (bucket: Bucket, key: string): Promise<string | undefined> => {
  const found = await bucket.read(key);
  if (found === undefined) return undefined;
  const text = await found.handle.readFile('utf8');
  await found.handle.close();
  return text;
};

const recordsOf = async (folder: string, key: string): Promise<readonly string[]> => {
  const records = join(folder, 'records');
  const files = (await readdir(records)).map((name) => join(records, name));
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  return files.filter((_, index) => texts[index]?.includes(`"key":"${key}"`));
};

/** A busy machine: what was begun before is done by then, but not known yet. */
const busy = (): void => {
  for (const until = performance.now() + 3; performance.now() < until; );
};

test('a write and a removal that meet agree with what a restart finds, whole', async () => {
  const folder = await makeFolder();
  const bucket = await openBucket(folder);
  let recordWritten = Promise.withResolvers<void>();
  await onSync(folder, async (path) => {
    if (path === 'records/*') recordWritten.resolve();
  });
  // The record is renamed into place some turns after its sync.
  for (let turns = 0; turns < 30; turns += 1) {
    await write(bucket, 'key', 'old');
    recordWritten = Promise.withResolvers();
    const writing = write(bucket, 'key', 'new');
    await recordWritten.promise;
    for (let turn = 0; turn < turns; turn += 1) await setImmediate();
    busy();
    await Promise.all([writing, bucket.remove('key')]);
    const again = await openBucket(folder);
    expect(again.find('key')).toEqual(bucket.find('key'));
    expect(await textOf(again, 'key')).toBe(bucket.find('key')?.etag);
  }
});

test('a bucket with more objects than a process may have open files is opened', async () => {
  const folder = await makeFolder();
  await mkdir(join(folder, 'records'));
  for (let number = 0; number < 400; number += 1) {
    const record = { key: String(number), file: 'none', size: 0, etag: '', modifiedAt: 0, headers: {} };
    await writeFile(join(folder, 'records', `${number}.json`), JSON.stringify(record));
  }
  const opened = `import { openBucket } from ${JSON.stringify(join(import.meta.dirname, 'bucket.ts'))};
    process.stdout.write(String((await openBucket(${JSON.stringify(folder)})).keys().length));`;
  const command = [
    '-c',
    'ulimit -n 128; exec "$@"',
    'sh',
    process.execPath,
    '--input-type=module',
    '-e',
    opened,
  ];
  expect((await promisify(execFile)('sh', command)).stdout).toBe('400');
});

const recordSyncs = async (folder: string): Promise<readonly string[]> => {
  const synced: string[] = [];
  await onSync(folder, async (path) => void synced.push(path));
  return synced;
};

test('A26: the bytes of an object, its record and the names of both are on the disk before its writer is answered', async () => {
  const folder = await makeFolder();
  const bucket = await openBucket(folder);
  const synced = await recordSyncs(folder);
  await write(bucket, 'key', 'text');
  expect(synced.toSorted()).toEqual(['bytes', 'bytes/*', 'records', 'records/*']);
  expect(synced.at(-1)).toBe('records');
  await bucket.remove('key');
  expect(synced.slice(4)).toEqual(['records']);
});

test('many writers at once share the syncs of the folders', async () => {
  const folder = await makeFolder();
  const bucket = await openBucket(folder);
  const synced = await recordSyncs(folder);
  await Promise.all(Array.from({ length: 32 }, (_, number) => write(bucket, String(number), 'text')));
  const folders = synced.filter((name) => !name.endsWith('*'));
  expect(synced.length - folders.length).toBe(64);
  expect(folders.length).toBeLessThan(48);
});

test('an object without a readable record is an error and not a missing object, and the others are served', async () => {
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => said.mockRestore());
  const folder = await makeFolder();
  const bucket = await openBucket(folder);
  await write(bucket, 'whole', 'text');
  await write(bucket, 'torn', 'lost');
  const [torn = ''] = await recordsOf(folder, 'torn');
  await truncate(torn);
  const again = await openBucket(folder);
  expect(said).toHaveBeenCalledExactlyOnceWith(expect.stringContaining(torn));
  expect(await textOf(again, 'whole')).toBe('text');
  await expect(again.read('torn')).rejects.toThrow('torn');
  // Its bytes are among them.
  expect(await readdir(join(folder, 'bytes'))).toHaveLength(2);
  await write(again, 'torn', 'new');
  expect(await textOf(await openBucket(folder), 'torn')).toBe('new');
  expect(await readdir(join(folder, 'bytes'))).toHaveLength(2);
});

test.each(['write', 'removal'])('a torn record ends with the %s of its object', async (change) => {
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => said.mockRestore());
  const folder = await makeFolder();
  await write(await openBucket(folder), 'torn', 'lost');
  for (const file of await recordsOf(folder, 'torn')) await truncate(file);
  const bucket = await openBucket(folder);
  if (change === 'write') await write(bucket, 'torn', 'new');
  else await bucket.remove('torn');
  expect(await textOf(bucket, 'torn')).toBe(change === 'write' ? 'new' : undefined);
  await openBucket(folder);
  expect(said).toHaveBeenCalledTimes(1);
});

test('an object whose bytes are gone is missing, but not one whose folder is away', async () => {
  const folder = await makeFolder();
  const bucket = await openBucket(folder);
  await write(bucket, 'key', 'text');
  await rename(join(folder, 'bytes'), join(folder, 'away'));
  await expect(bucket.read('key')).rejects.toThrow('ENOENT');
  await rename(join(folder, 'away'), join(folder, 'bytes'));
  const [bytes = ''] = await readdir(join(folder, 'bytes'));
  await rm(join(folder, 'bytes', bytes));
  expect(await bucket.read('key')).toBeUndefined();
});

test.each([
  ['cut short', (file: string) => truncate(file, 2)],
  ['not readable', (file: string) => rm(file).then(() => symlink(file, file))],
])('an object whose bytes are %s is an error and not a missing object', async (_what, damage) => {
  const folder = await makeFolder();
  const bucket = await openBucket(folder);
  await write(bucket, 'key', 'text');
  const [bytes = ''] = await readdir(join(folder, 'bytes'));
  await damage(join(folder, 'bytes', bytes));
  await expect(bucket.read('key')).rejects.toThrow();
});

test('a write that fails leaves no bytes behind', async () => {
  const folder = await makeFolder();
  const bucket = await openBucket(folder);
  await rename(join(folder, 'records'), join(folder, 'away'));
  await expect(write(bucket, 'key', 'text')).rejects.toThrow('ENOENT');
  expect(await readdir(join(folder, 'bytes'))).toEqual([]);
});

test('a write whose last sync fails is an error, and leaves an object that is whole', async () => {
  const folder = await makeFolder();
  const bucket = await openBucket(folder);
  await write(bucket, 'key', 'old');
  await onSync(folder, async (path) => {
    if (path === 'records') throw new Error('no sync');
  });
  const { handle, commit, discard } = await bucket.draft();
  await handle.writeFile('new');
  await expect(commit({ key: 'key', size: 3, etag: 'new', headers: {} })).rejects.toThrow('no sync');
  await discard();
  expect(await textOf(bucket, 'key')).toBe('new');
  expect(await textOf(await openBucket(folder), 'key')).toBe('new');
});
