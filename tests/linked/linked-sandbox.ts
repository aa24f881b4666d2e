/**
 * A sandbox and a bucket for tests of the link: the real server and runner as processes of this machine, and the S3 endpoint
 * of the embedded cloud.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { lstat, mkdtemp, readdir, readFile, readlink } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { S3Client } from '@aws-sdk/client-s3';
import { makeWorkspaceBucket, type WorkspaceBucket } from '#shared/adapters/aws/workspace-bucket.ts';
import type { ManifestRef } from '#shared/domain/checkpoint.ts';
import { apply } from '../../functions/sandbox-link/apply.ts';
import { compare } from '../../functions/sandbox-link/compare.ts';
import { restore } from '../../functions/sandbox-link/restore.ts';
import { save } from '../../functions/sandbox-link/save.ts';
import { start as startS3 } from '../../local/s3/start.ts';
import {
  sha256Of,
  startTestSandbox,
  type TestSandbox,
  testBearer,
} from '../../sandbox-task/server/sandbox-fixture.ts';

const workspace = randomUUID();
const ignore = () => undefined;
const telemetry = { info: ignore, warn: ignore, error: ignore, count: ignore, duration: ignore };

/** A bucket with its client, whose commands are recorded by their names. */
export const openBucket = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-linked-'));
  const s3 = await startS3({ folder, buckets: ['b'] });
  const client = new S3Client({
    endpoint: s3.url,
    region: 'us-east-1',
    credentials: s3.credentials,
    maxAttempts: 1,
    requestChecksumCalculation: 'WHEN_REQUIRED',
  });
  const calls: string[] = [];
  client.middlewareStack.add(
    (next, context) => (args) => {
      calls.push(String(context['commandName']));
      return next(args);
    },
    { step: 'initialize' },
  );
  const close = async (): Promise<void> => {
    client.destroy();
    await s3.stop();
  };
  return { folder, client, calls, bucket: makeWorkspaceBucket(client, 'b'), close };
};

export type States = { readonly before?: ManifestRef; readonly after?: ManifestRef };

/** The fixture listens on a socket of the file system; the link knows addresses and ports. */
export const openAddress = async ({ workspace: folder }: Pick<TestSandbox, 'workspace'>) => {
  const socketPath = join(dirname(folder), 'sandbox.sock');
  const proxy = createServer((incoming) => {
    const outgoing = connect(socketPath);
    incoming.pipe(outgoing).pipe(incoming);
    incoming.on('error', () => outgoing.destroy());
    outgoing.on('error', () => incoming.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    address: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    close: () => void proxy.close(),
  };
};

export const openSandbox = async (bucket: WorkspaceBucket) => {
  const sandbox = await startTestSandbox();
  const { address, close } = await openAddress(sandbox);
  const context = { target: new URL(address), bucket, telemetry };
  const common = { address, bearer: testBearer, workspace };
  return {
    folder: sandbox.workspace,
    own: sandbox.own,
    isRoot: sandbox.isRoot,
    callTool: sandbox.callTool,
    save: (base?: ManifestRef) =>
      save({ kind: 'save', ...common, id: randomUUID(), logsAfter: 0, ...(base ? { base } : {}) }, context),
    restore: (manifest: ManifestRef) => restore({ kind: 'restore', ...common, claim: 1, manifest }, context),
    compare: (states: States) => compare({ kind: 'compare', workspace, ...states }, context),
    apply: (states: States) => apply({ kind: 'apply', ...common, id: randomUUID(), ...states }, context),
    close: async (): Promise<void> => {
      close();
      await sandbox.stop();
    },
  };
};
export type LinkedSandbox = Awaited<ReturnType<typeof openSandbox>>;

/** Each entry with its kind, its permissions and its content or target. */
export const outline = async (root: string) => {
  const names = (await readdir(root, { recursive: true })).sort();
  return Promise.all(
    names.map(async (name) => {
      const path = join(root, name);
      const stat = await lstat(path);
      const mode = stat.mode & 0o777;
      if (stat.isSymbolicLink()) return { name, target: await readlink(path) };
      if (stat.isDirectory()) return { name, mode };
      if (!stat.isFile()) return { name, mode, isSpecial: true };
      const bytes = await readFile(path);
      const content = bytes.length > 100 ? sha256Of(bytes) : bytes.toString('latin1');
      return { name, mode, modifiedAt: Math.round(stat.mtimeMs), content };
    }),
  );
};
