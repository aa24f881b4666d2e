/** The archive as its caller sees it: what is asked of the link, and what becomes of its answers. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { afterEach, expect, test } from 'vitest';
import type { OwnerId, WorkspaceId } from '#shared/domain/ids.ts';
import { encodeEvent, eventStreamType } from '../../../local/lambda/start.ts';
import { makeWorkspaceArchive } from './lambda-workspace-archive.ts';

const workspaceId = '6f1d2c3b-0000-4000-8000-000000000001' as WorkspaceId;
const owner = 'an owner' as OwnerId;
const sandbox = { workspaceId, generation: 7, address: 'http://10.42.0.9:8080', flavor: 'micro' } as const;
const id = '6f1d2c3b-0000-4000-8000-00000000000a';
const ref = { id, sha256: 'a'.repeat(64) };

const opened: (() => void)[] = [];
afterEach(() => {
  for (const close of opened.splice(0)) close();
});

const openArchive = async (
  status: number,
  body: string,
  { sharedVolume, ...headers }: Record<string, string> & { sharedVolume?: 'bucket' | 'mounted' } = {},
) => {
  const asked: unknown[] = [];
  const removed: string[] = [];
  const server = createServer(async (request, response) => {
    asked.push(JSON.parse(await text(request)));
    response.writeHead(200, { 'content-type': eventStreamType });
    const prelude = `${JSON.stringify({ statusCode: status, headers })}${'\0'.repeat(8)}`;
    response.write(encodeEvent('PayloadChunk', 'application/octet-stream', Buffer.from(prelude + body)));
    response.end(encodeEvent('InvokeComplete', 'application/json', Buffer.from('{}')));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = new LambdaClient({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
  });
  opened.push(
    () => client.destroy(),
    () => server.closeAllConnections(),
    () => server.close(),
  );
  const refuse = () => {
    throw new Error('only the link reads and writes');
  };
  const archive = makeWorkspaceArchive({
    client,
    functionName: 'sallyport-sandbox-link',
    sharedVolume,
    bearer: (workspace, generation) => `bearer-of-${workspace.slice(-1)}-${generation}`,
    correlation: { id: () => 'c-1' },
    bucket: async () => ({
      remove: refuse,
      removeAll: async (prefix) => void removed.push(prefix),
    }),
  });
  return { archive, asked, removed };
};

const target = {
  address: 'http://10.42.0.9:8080',
  bearer: 'bearer-of-1-7',
  workspace: workspaceId,
  correlationId: 'c-1',
};

test('a save sends location, base and known logs, and returns the link’s outcome', async () => {
  const saved = {
    status: 'saved',
    manifest: ref,
    files: 2,
    bytes: 9,
    packs: [id],
    leftOut: [],
    logs: [],
  } as const;
  const { archive, asked } = await openArchive(200, JSON.stringify(saved));
  const checkpoint = { ...ref, savedAt: 1, generation: 6, files: 1, bytes: 1, packs: [id] };
  expect(await archive.save(sandbox, { id, base: checkpoint, logsAfter: 4, owner })).toEqual(saved);
  expect(await archive.save(sandbox, { id, logsAfter: 0, owner })).toEqual(saved);
  expect(asked).toEqual([
    { kind: 'save', ...target, id, base: ref, logsAfter: 4 },
    { kind: 'save', ...target, id, logsAfter: 0 },
  ]);
});

test('a restore sends the manifest, and returns the link’s outcome', async () => {
  const restored = { status: 'restored', files: 1, missing: [{ path: 'a', reason: 'lost' }] } as const;
  const { archive, asked } = await openArchive(200, JSON.stringify(restored));
  expect(await archive.restore(sandbox, { manifest: ref, owner, claim: 3 })).toEqual(restored);
  expect(asked).toEqual([{ kind: 'restore', ...target, claim: 3, manifest: ref }]);
});

test('a volume in the bucket is named with its owner, saved and restored, with or without a checkpoint', async () => {
  const shared = { files: 1, bytes: 2, missing: [] };
  const restored = { status: 'restored', files: 0, missing: [], shared } as const;
  const { archive, asked } = await openArchive(200, JSON.stringify(restored), { sharedVolume: 'bucket' });
  expect(archive.keepsShared).toBe(true);
  expect(await archive.restore(sandbox, { owner, claim: 3 })).toEqual(restored);
  await expect(archive.save(sandbox, { id, logsAfter: 0, owner })).rejects.toThrow();
  expect(asked).toEqual([
    { kind: 'restore', ...target, claim: 3, shared: { owner: 'an owner' } },
    { kind: 'save', ...target, id, logsAfter: 0, shared: { owner: 'an owner' } },
  ]);
});

test('a mounted volume is not transferred', async () => {
  const restored = { status: 'restored', files: 0, missing: [] } as const;
  const { archive, asked } = await openArchive(200, JSON.stringify(restored), { sharedVolume: 'mounted' });
  expect(archive.keepsShared).toBe(false);
  await archive.restore(sandbox, { manifest: ref, owner, claim: 3 });
  expect(asked).toEqual([{ kind: 'restore', ...target, claim: 3, manifest: ref }]);
});

test.each<[string, Parameters<typeof openArchive>]>([
  ['refuses', [503, '{}', { 'x-sallyport-link': 'refused' }]],
  ['says something else', [200, '{"status":"perhaps"}']],
  ['says no JSON', [500, '<html>']],
])('a link that %s has saved and restored nothing', async (_title, answer) => {
  const { archive } = await openArchive(...answer);
  const failure = { name: 'AppError', code: 'sandbox_unavailable' };
  await expect(archive.save(sandbox, { id, logsAfter: 0, owner })).rejects.toMatchObject(failure);
  await expect(archive.restore(sandbox, { manifest: ref, owner, claim: 3 })).rejects.toMatchObject(failure);
});

test.each([400, 403])('a call that the link itself refuses with %i is a fault of ours', async (status) => {
  const { archive } = await openArchive(status, '{}', { 'x-sallyport-link': 'refused' });
  const fault = (kind: string) => ({
    name: 'AppError',
    code: 'internal_error',
    message: `the ${kind} of the workspace failed on our side`,
  });
  const saving = archive.save(sandbox, { id, logsAfter: 0, owner });
  await expect(saving).rejects.toMatchObject(fault('save'));
  const restoring = archive.restore(sandbox, { manifest: ref, owner, claim: 3 });
  await expect(restoring).rejects.toMatchObject(fault('restore'));
});

test('a workspace is deleted with all objects below its prefix, without the link', async () => {
  const { archive, asked, removed } = await openArchive(200, '');
  await archive.forget(workspaceId);
  expect([removed, asked]).toEqual([['workspaces/6f1d2c3b-0000-4000-8000-000000000001/'], []]);
});
