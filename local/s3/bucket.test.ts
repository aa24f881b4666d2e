/** One bucket on disk, under writers of the same key and with many objects. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
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

/** A busy machine: what was begun before is done by then, but not known yet. */
const busy = (): void => {
  for (const until = performance.now() + 3; performance.now() < until; );
};

test('a write and a removal that meet agree with what a restart finds, whole', async () => {
  const folder = await makeFolder();
  const bucket = await openBucket(folder);
  for (let turns = 0; turns < 600; turns += 5) {
    await write(bucket, 'key', 'old');
    const writing = write(bucket, 'key', 'new');
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

test('a record that lost its text refuses the start by its name, until it is deleted', async () => {
  const folder = await makeFolder();
  const bucket = await openBucket(folder);
  await write(bucket, 'kept', 'text');
  const cut = join(folder, 'records', 'cut.json');
  await writeFile(cut, '');
  await expect(openBucket(folder)).rejects.toThrow(`${cut} cannot be read: `);
  await rm(cut);
  expect((await openBucket(folder)).keys()).toEqual(['kept']);
});
