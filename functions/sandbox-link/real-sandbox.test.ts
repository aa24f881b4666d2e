/** Saves and restores with the sandbox as it is: its server and runner as processes of this machine. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { S3Client } from '@aws-sdk/client-s3';
import { afterEach, expect, test } from 'vitest';
import { makeWorkspaceBucket } from '#shared/adapters/aws/workspace-bucket.ts';
import type { ManifestRef } from '#shared/domain/checkpoint.ts';
import { start as startS3 } from '../../local/s3/start.ts';
import { startTestSandbox, testBearer } from '../../sandbox-task/server/sandbox-fixture.ts';
import { restore } from './restore.ts';
import { save } from './save.ts';

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const workspace = randomUUID();
const ignore = () => undefined;
const telemetry = { info: ignore, warn: ignore, error: ignore, count: ignore, duration: ignore };

const openBucket = async () => {
  const s3 = await startS3({ folder: await mkdtemp(join(tmpdir(), 'sallyport-real-')), buckets: ['b'] });
  const client = new S3Client({
    endpoint: s3.url,
    region: 'us-east-1',
    credentials: s3.credentials,
  });
  opened.push(s3.stop, () => client.destroy());
  return makeWorkspaceBucket(client, 'b');
};

/** The fixture listens on a socket of the file system; the link knows addresses and ports. */
const openSandbox = async (bucket: Awaited<ReturnType<typeof openBucket>>) => {
  const sandbox = await startTestSandbox();
  const socketPath = join(dirname(sandbox.workspace), 'sandbox.sock');
  const proxy = createServer((incoming) => {
    const outgoing = connect(socketPath);
    incoming.pipe(outgoing).pipe(incoming);
    incoming.on('error', () => outgoing.destroy());
    outgoing.on('error', () => incoming.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  opened.push(sandbox.stop, () => proxy.close());
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const context = { target: new URL(address), bucket, telemetry };
  const common = { address, bearer: testBearer, workspace };
  return {
    folder: sandbox.workspace,
    own: sandbox.own,
    isRoot: sandbox.isRoot,
    save: (base?: ManifestRef) =>
      save({ kind: 'save', ...common, id: randomUUID(), logsAfter: 0, ...(base ? { base } : {}) }, context),
    restore: (manifest: ManifestRef) => restore({ kind: 'restore', ...common, manifest }, context),
  };
};

const outline = async (root: string) => {
  const names = (await readdir(root, { recursive: true })).sort();
  return Promise.all(
    names.map(async (name) => {
      const path = join(root, name);
      const stat = await lstat(path);
      const mode = stat.mode & 0o777;
      if (stat.isSymbolicLink()) return [name, await readlink(path)];
      if (stat.isDirectory()) return [name, mode];
      return [name, mode, Math.round(stat.mtimeMs), (await readFile(path)).toString('latin1')];
    }),
  );
};

test('a workspace is restored unchanged in the next sandbox, and has no changes then', async () => {
  const bucket = await openBucket();
  const first = await openSandbox(bucket);
  await mkdir(join(first.folder, 'src/deep'), { recursive: true });
  await writeFile(join(first.folder, 'src/deep/größe.txt'), 'grüße');
  await writeFile(join(first.folder, 'run.sh'), '#!/bin/sh\n');
  await chmod(join(first.folder, 'run.sh'), 0o755);
  await writeFile(join(first.folder, 'empty'), '');
  await writeFile(join(first.folder, 'large'), Buffer.alloc(12_000_000, 'sallyport'));
  await symlink('src/deep', join(first.folder, 'link'));
  for (const name of ['run.sh', 'empty', 'large', 'src/deep/größe.txt'])
    await utimes(join(first.folder, name), 1_700_000_000.123, 1_700_000_000.123);
  await chmod(join(first.folder, 'src/deep'), 0o500);
  first.own();
  const saved = await first.save();
  if (saved.status !== 'saved') throw new Error(JSON.stringify(saved));
  expect([saved.files, saved.bytes, saved.leftOut]).toEqual([4, 12_000_017, []]);
  expect(await first.save(saved.manifest)).toMatchObject({ status: 'unchanged' });

  const second = await openSandbox(bucket);
  expect(await second.restore(saved.manifest)).toEqual({ status: 'restored', files: 4, missing: [] });
  expect(await outline(second.folder)).toEqual(await outline(first.folder));
  expect(await second.save(saved.manifest)).toMatchObject({ status: 'unchanged' });

  await writeFile(join(second.folder, 'new'), 'new');
  second.own();
  const next = await second.save(saved.manifest);
  expect(next).toMatchObject({ status: 'saved', files: 5, bytes: 12_000_020 });
});

test('an unreadable file is reported each time, and prevents no later save', async () => {
  const sandbox = await openSandbox(await openBucket());
  await writeFile(join(sandbox.folder, 'open'), 'x');
  await writeFile(join(sandbox.folder, 'closed'), 'x', { mode: 0o000 });
  sandbox.own();
  const reason = 'it cannot be read: EACCES';
  const leftOut = sandbox.isRoot ? [] : [{ path: 'closed', reason }];
  // A stat that young is sent again anyway.
  await delay(100);
  const saved = await sandbox.save();
  if (saved.status !== 'saved') throw new Error(JSON.stringify(saved));
  expect(saved.leftOut).toEqual(leftOut);
  expect(await sandbox.save(saved.manifest)).toMatchObject({ status: 'unchanged' });
  await writeFile(join(sandbox.folder, 'new'), 'x');
  expect(await sandbox.save(saved.manifest)).toMatchObject({ status: 'saved', leftOut });
});
