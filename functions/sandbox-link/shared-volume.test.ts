/** The shared volume between real sandboxes and a real S3 endpoint: what one sandbox of an owner leaves, the next has. */
import { randomUUID } from 'node:crypto';
import {
  chmod,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { HeadObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { expect, onTestFinished, test } from 'vitest';
import { makeSharedBucket, type SharedBucket } from '#shared/adapters/aws/shared-bucket.ts';
import { type ArchiveHeader, encodeArchiveFrame } from '#shared/contracts/archive.ts';
import type { RestoreAnswer, SaveAnswer } from '#shared/contracts/sandbox-link.ts';
import { listen } from '../../local/endpoint/listen.ts';
import { startTestSandbox, testBearer, waitFor } from '../../sandbox-task/server/sandbox-fixture.ts';
import { openAddress, openBucket } from '../../tests/linked/linked-sandbox.ts';
import { withSharedRestored } from './shared-restore.ts';
import { withSharedSaved } from './shared-save.ts';

const Bucket = 'b';
const workspace = randomUUID();

const openCloud = async () => {
  const { client, calls, bucket, close } = await openBucket();
  onTestFinished(close);
  return {
    client,
    calls,
    sharedBucket: makeSharedBucket(client, Bucket),
    bucket,
    keys: async () =>
      ((await client.send(new ListObjectsV2Command({ Bucket }))).Contents ?? []).map(({ Key = '' }) => Key),
    wordsOf: async (Key: string) => (await client.send(new HeadObjectCommand({ Bucket, Key }))).Metadata,
    put: (Key: string, Body: string) => client.send(new PutObjectCommand({ Bucket, Key, Body })),
  };
};
type Cloud = Awaited<ReturnType<typeof openCloud>>;

/** The link's work with a sandbox at this address, in the name of an owner. */
const linkTo = (cloud: Cloud, address: string, owner: string) => {
  const warnings: string[] = [];
  const note = (message: string) => void warnings.push(message);
  const ignore = () => undefined;
  const telemetry = { info: ignore, warn: note, error: note, count: ignore, duration: ignore };
  const { bucket, sharedBucket } = cloud;
  const context = { target: new URL(address), bucket, sharedBucket, telemetry };
  const common = { address, bearer: testBearer, workspace, shared: { owner } };
  return {
    warnings,
    restore: (over: Partial<typeof context> = {}) =>
      withSharedRestored({ kind: 'restore', ...common, claim: 1 }, { ...context, ...over }, restored),
    save: (over: Partial<typeof context> = {}) =>
      withSharedSaved(
        { kind: 'save', ...common, id: randomUUID(), logsAfter: 0 },
        { ...context, ...over },
        unchanged,
      ),
  };
};
const restored: RestoreAnswer = { status: 'restored', files: 0, missing: [] };
const unchanged: SaveAnswer = { status: 'unchanged', leftOut: [], logs: [] };
const saved = (files: number, bytes: number, removed = 0) => ({
  ...unchanged,
  shared: { files, bytes, removed, leftOut: [] },
});
const came = (files: number, bytes: number, missing: readonly object[] = []) => ({
  ...restored,
  shared: { files, bytes, missing },
});

const openSandbox = async (cloud: Cloud, owner = 'owner') => {
  const sandbox = await startTestSandbox({}, { hasSharedVolume: true });
  const { address, close } = await openAddress(sandbox);
  onTestFinished(async () => {
    close();
    await sandbox.stop();
  });
  return {
    ...linkTo(cloud, address, owner),
    sandbox,
    at: (path: string): string => join(sandbox.shared, path),
    read: (path: string) => readFile(join(sandbox.shared, path), 'utf8'),
    write: (path: string, content: string | Buffer) => writeFile(join(sandbox.shared, path), content),
    killRunner: async () => {
      const [, runner = 0] = await sandbox.pids();
      process.kill(runner, 'SIGKILL');
      // Until its successor answers.
      await waitFor(async () => {
        const [, next = 0] = await sandbox.pids();
        return next !== 0 && next !== runner && (await sandbox.ask('GET', '/files')).status === 200;
      });
    },
  };
};

/** As it is right after its start. */
const startSandbox = async (cloud: Cloud, owner?: string) => {
  const sandbox = await openSandbox(cloud, owner);
  return { ...sandbox, answer: await sandbox.restore() };
};

const outline = async (root: string) => {
  const names = (await readdir(root, { recursive: true })).sort();
  return Promise.all(
    names.map(async (name) => {
      const path = join(root, name);
      const stat = await lstat(path);
      if (stat.isSymbolicLink()) return [name, await readlink(path)];
      if (stat.isDirectory()) return [name, stat.mode & 0o777];
      return [name, stat.mode & 0o777, Math.round(stat.mtimeMs), (await readFile(path)).toString('latin1')];
    }),
  );
};

test('files, folders, links, modes and times that one sandbox of an owner leaves are restored in the next', async () => {
  const cloud = await openCloud();
  const first = await startSandbox(cloud);
  expect(first.answer).toEqual(came(0, 0));
  await mkdir(first.at('src/ünï & #?%'), { recursive: true });
  await first.write('src/ünï & #?%/a+b', 'grüße');
  await first.write('run.sh', '#!/bin/sh\n');
  await first.write('empty', '');
  await first.write('large', Buffer.alloc(20_000_000, 'sallyport'));
  await symlink('src/ünï & #?%', first.at('link'));
  await chmod(first.at('run.sh'), 0o755);
  await chmod(first.at('src'), 0o500);
  for (const name of ['run.sh', 'empty', 'large', 'src/ünï & #?%/a+b'])
    await utimes(first.at(name), 1_700_000_000.25, 1_700_000_000.25);
  first.sandbox.own();
  expect(await first.save()).toEqual(saved(4, 20_000_017));
  expect(await cloud.keys()).toEqual([
    'shared/owner/empty',
    'shared/owner/large',
    'shared/owner/link',
    'shared/owner/run.sh',
    'shared/owner/src',
    'shared/owner/src/%C3%BCn%C3%AF%20%26%20%23%3F%25',
    'shared/owner/src/%C3%BCn%C3%AF%20%26%20%23%3F%25/a%2Bb',
  ]);
  expect(await cloud.wordsOf('shared/owner/run.sh')).toEqual({
    type: 'file',
    mode: '755',
    mtime: '1700000000250.000',
    sha256: 'a8076d3d28d21e02012b20eaf7dbf75409a6277134439025f282e368e3305abf',
  });

  const second = await startSandbox(cloud);
  expect(second.answer).toEqual(came(4, 20_000_017));
  expect(await outline(second.sandbox.shared)).toEqual(await outline(first.sandbox.shared));
  cloud.calls.length = 0;
  expect(await second.save()).toEqual(saved(0, 0));
  expect(cloud.calls).toEqual([]);
});

test('the last writer wins, file by file, and a deletion applies to all later starts', async () => {
  const cloud = await openCloud();
  const first = await startSandbox(cloud);
  await first.write('both', 'first');
  await first.write('gone', 'x');
  await first.write('kept', 'x');
  await first.save();
  const second = await startSandbox(cloud);
  await second.write('both', 'second, and longer');
  await second.write('of the second', 'x');
  await rm(second.at('gone'));
  await first.write('of the first', 'x');
  expect(await second.save()).toEqual(saved(2, 19, 1));
  // A sandbox does not write entries that it did not touch: `both` stays the second's, and `gone` is not put back.
  expect(await first.save()).toEqual(saved(1, 1));
  const third = await startSandbox(cloud);
  expect((await readdir(third.sandbox.shared)).sort()).toEqual([
    'both',
    'kept',
    'of the first',
    'of the second',
  ]);
  expect(await third.read('both')).toBe('second, and longer');
  await first.write('both', 'first again');
  await first.save();
  await third.write('both', 'third');
  await third.save();
  expect(await (await startSandbox(cloud)).read('both')).toBe('third');
});

test('another owner sees none of it, whatever the owner is called', async () => {
  const cloud = await openCloud();
  const owners = ['a', 'a/b', '..', 'a%2Fb', 'ä'];
  for (const owner of owners) {
    const sandbox = await startSandbox(cloud, owner);
    expect(sandbox.answer).toEqual(came(0, 0));
    await sandbox.write('name', owner);
    expect(await sandbox.save()).toMatchObject({ shared: { files: 1 } });
  }
  expect(await cloud.keys()).toEqual([
    'shared/%2E%2E/name',
    'shared/%C3%A4/name',
    'shared/a%252Fb/name',
    'shared/a%2Fb/name',
    'shared/a/name',
  ]);
  for (const owner of owners) {
    const sandbox = await startSandbox(cloud, owner);
    expect([await readdir(sandbox.sandbox.shared), await sandbox.read('name')]).toEqual([['name'], owner]);
  }
});

test('a save that the bucket refuses is reported, leaves the workspace saved, and is completed by the next', async () => {
  const cloud = await openCloud();
  const sandbox = await startSandbox(cloud);
  await sandbox.write('a', 'a');
  const refuse = () => Promise.reject(new Error('SlowDown'));
  const broken: SharedBucket = { ...cloud.sharedBucket, put: refuse };
  expect(await sandbox.save({ sharedBucket: broken })).toEqual({
    ...unchanged,
    sharedFailed: 'the save of the shared volume was interrupted',
  });
  expect(sandbox.warnings).toEqual(['a shared volume was not saved']);
  expect(await sandbox.save()).toEqual(saved(1, 1));
  await rm(sandbox.at('a'));
  expect(await sandbox.save({ sharedBucket: { ...cloud.sharedBucket, remove: refuse } })).toMatchObject({
    sharedFailed: 'the save of the shared volume was interrupted',
  });
  expect(await sandbox.save()).toEqual(saved(0, 0, 1));
  expect(await cloud.keys()).toEqual([]);
});

test('an interrupted restore is reported, and files unknown then are not deleted later', async () => {
  const cloud = await openCloud();
  const first = await startSandbox(cloud);
  await first.write('a', 'a');
  await first.save();
  const second = await openSandbox(cloud);
  const refuse = () => Promise.reject(new Error('SlowDown'));
  expect(await second.restore({ sharedBucket: { ...cloud.sharedBucket, take: refuse } })).toEqual({
    ...restored,
    sharedFailed: 'the restore of the shared volume was interrupted',
  });
  await second.write('b', 'b');
  expect(await second.save()).toEqual(saved(1, 1));
  expect(await cloud.keys()).toEqual(['shared/owner/a', 'shared/owner/b']);
});

test('a sandbox that lost its index undoes no concurrent change of others', async () => {
  const cloud = await openCloud();
  const first = await startSandbox(cloud);
  for (const name of ['same', 'theirs', 'mine', 'gone here']) await first.write(name, 'old');
  await mkdir(first.at('folder'));
  await first.save();
  const second = await startSandbox(cloud);
  await second.write('theirs', 'newer');
  await second.save();
  await first.write('mine', 'newer');
  await rm(first.at('gone here'));
  await first.killRunner();
  cloud.calls.length = 0;
  expect(await first.save()).toEqual(saved(1, 5));
  expect(cloud.calls.filter((name) => name !== 'HeadObjectCommand')).toEqual(['PutObjectCommand']);
  const third = await startSandbox(cloud);
  expect(await Promise.all(['same', 'theirs', 'mine', 'gone here'].map(third.read))).toEqual([
    'old',
    'newer',
    'newer',
    'old',
  ]);
});

test('entries that differ from what was stored, or that no sandbox stored, are reported as missing', async () => {
  const cloud = await openCloud();
  const first = await startSandbox(cloud);
  for (const name of ['fine', 'spoiled']) await first.write(name, name);
  await first.write('large', Buffer.alloc(9_000_000, 1));
  await first.save();
  const words = async (name: string) => (await cloud.wordsOf(`shared/owner/${name}`)) ?? {};
  const spoil = async (name: string, bytes: Buffer) =>
    cloud.sharedBucket.put(`shared/owner/${name}`, { words: await words(name), bytes });
  await spoil('spoiled', Buffer.from('SPOILED'));
  await spoil('large', Buffer.alloc(9_000_000, 2));
  await cloud.put('shared/owner/by hand', 'x');
  await cloud.put('shared/owner/folder/', 'x');
  await cloud.put('shared/owner/%2E%2E/up', 'x');
  await cloud.put('shared/owner/plain', 'x');
  const second = await startSandbox(cloud);
  expect(second.answer).toEqual(
    came(1, 9_000_011, [
      { path: '%2E%2E/up', reason: 'its name is not a path' },
      { path: 'by hand', reason: 'its name is not a path' },
      { path: 'folder/', reason: 'its name is not a path' },
      { path: 'plain', reason: 'it was not written by a sandbox' },
      { path: 'large', reason: 'its content differs from what was saved' },
      { path: 'spoiled', reason: 'its content differs from what was saved' },
    ]),
  );
  expect(await readdir(second.sandbox.shared)).toEqual(['fine']);
  expect(await second.save()).toEqual(saved(0, 0));
});

test('content that does not fit into an object is left out and named', async () => {
  const cloud = await openCloud();
  const sandbox = await startSandbox(cloud);
  const long = 'ü'.repeat(120);
  await mkdir(sandbox.at(`${long}/${long}`), { recursive: true });
  await symlink('ü'.repeat(400), sandbox.at('link'));
  await sandbox.write('a', 'a');
  expect(await sandbox.save()).toEqual({
    ...unchanged,
    shared: {
      files: 1,
      bytes: 1,
      removed: 0,
      leftOut: [
        { path: 'link', reason: 'its target is too long for a shared volume' },
        { path: `${long}/${long}`, reason: 'its path is too long for a shared volume' },
      ],
    },
  });
});

test('a sandbox without a shared volume is skipped', async () => {
  const cloud = await openCloud();
  const { url, stop } = await listen(async (request, response) => {
    request.resume();
    response.writeHead(404).end();
  });
  onTestFinished(stop);
  const link = linkTo(cloud, url, 'owner');
  expect([await link.save(), await link.restore()]).toEqual([unchanged, restored]);
});

test('a volume over the limit is reported with the reason, and not stored', async () => {
  const cloud = await openCloud();
  const sandbox = await startSandbox(cloud);
  await Promise.all(Array.from({ length: 10_001 }, (_, index) => sandbox.write(`${index}`, '')));
  expect(await sandbox.save()).toEqual({
    ...unchanged,
    sharedFailed: 'the shared volume has more than 10000 entries: no more can be saved',
  });
  expect(await cloud.keys()).toEqual([]);
});

type Frame = readonly [ArchiveHeader, string?];
const begin: Frame = [{ type: 'begin', isFull: false }];
const end: Frame = [{ type: 'end' }];
const fileOf = (path: string, size: number, content = 'x'): Frame[] => [
  [{ type: 'file', path, mode: 0o644, mtimeMs: 1, size }],
  [{ type: 'data' }, content],
  [{ type: 'file-end', size: content.length, isWhole: true }],
];
const removed = (path: string): Frame => [{ type: 'removed', path }];

const forge = async (cloud: Cloud, frames: readonly Frame[]) => {
  const { url, stop } = await listen(async (_request, response) => {
    for (const [header, payload = ''] of frames)
      response.write(encodeArchiveFrame(header, Buffer.from(payload)));
    response.end();
  });
  onTestFinished(stop);
  return linkTo(cloud, url, 'owner').save();
};

test.each<[string, Frame[]]>([
  ['a path that leads out', [begin, ...fileOf('../other/a', 1), end]],
  ['an absolute path', [begin, ...fileOf('/a', 1), end]],
  ['a removal that leads out', [begin, removed('../other/kept'), end]],
  ['a removal that goes up and down', [begin, removed('a/../../other/kept'), end]],
  ['a path twice', [begin, removed('a'), ...fileOf('a', 1), end]],
  ['a removal from what it does not know', [[{ type: 'begin', isFull: true }], removed('kept'), end]],
  ['a file as it was', [begin, [{ type: 'file', path: 'a', mode: 0, mtimeMs: 1, size: 1, same: true }], end]],
  ['more than it said', [begin, ...fileOf('a', 1, 'xy'), end]],
  ['content of nothing', [begin, [{ type: 'data' }, 'x'], end]],
])('an archive with %s is refused', async (_title, frames) => {
  const cloud = await openCloud();
  for (const key of ['shared/other/kept', 'shared/owner/kept']) await cloud.put(key, 'x');
  expect(await forge(cloud, frames)).toEqual({
    ...unchanged,
    sharedFailed: expect.stringMatching(/^the sandbox sent an invalid archive of the shared volume: /),
  });
  expect(await cloud.keys()).toEqual(['shared/other/kept', 'shared/owner/kept']);
});

test('an archive without its end deletes nothing', async () => {
  const cloud = await openCloud();
  await cloud.put('shared/owner/kept', 'x');
  expect(await forge(cloud, [begin, removed('kept')])).toMatchObject({
    sharedFailed: 'the save of the shared volume was interrupted',
  });
  expect(await cloud.keys()).toEqual(['shared/owner/kept']);
});

test('a large file with a wrong hash, or without one, is left out', async () => {
  const cloud = await openCloud();
  const size = 8 * 1_048_576 + 1;
  const piece = 'x'.repeat(262_144);
  const large = (path: string, sha256?: string): Frame[] => [
    [{ type: 'file', path, mode: 0o644, mtimeMs: 1, size, ...(sha256 === undefined ? {} : { sha256 }) }],
    ...Array.from({ length: 32 }, (): Frame => [{ type: 'data' }, piece]),
    [{ type: 'data' }, 'x'],
    [{ type: 'file-end', size, isWhole: true }],
  ];
  const answer = await forge(cloud, [begin, ...large('lie', 'a'.repeat(64)), ...large('none'), end]);
  expect(answer).toMatchObject({
    shared: {
      files: 0,
      leftOut: [
        { path: 'lie', reason: 'it changed while it was read' },
        { path: 'none', reason: 'it changed while it was read' },
      ],
    },
  });
  expect(await cloud.keys()).toEqual([]);
});

test('an unreadable file is stored once it can be read', async () => {
  const cloud = await openCloud();
  const sandbox = await startSandbox(cloud);
  await sandbox.write('closed', 'x');
  await chmod(sandbox.at('closed'), 0o000);
  sandbox.sandbox.own();
  const leftOut = [{ path: 'closed', reason: 'it cannot be read: EACCES' }];
  const first = sandbox.sandbox.isRoot
    ? saved(1, 1)
    : { ...unchanged, shared: { files: 0, bytes: 0, removed: 0, leftOut } };
  expect(await sandbox.save()).toEqual(first);
  await chmod(sandbox.at('closed'), 0o600);
  expect(await sandbox.save()).toEqual(saved(1, 1));
  expect(await cloud.keys()).toEqual(['shared/owner/closed']);
});
