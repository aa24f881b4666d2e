/** Saves and restores between a sandbox that speaks the archive's format and the real S3 endpoint of the embedded cloud. */
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { gunzipSync } from 'node:zlib';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { makeWorkspaceBucket } from '#shared/adapters/aws/workspace-bucket.ts';
import { type ArchiveHeader, encodeArchiveFrame, readArchive } from '#shared/contracts/archive.ts';
import { logNumberTrailer } from '#shared/contracts/sandbox-call.ts';
import type { AdoptCall, RestoreCall, SaveAnswer, SaveCall } from '#shared/contracts/sandbox-link.ts';
import type { Manifest, ManifestRef } from '#shared/domain/checkpoint.ts';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import type { SavedWant } from '#shared/domain/saved-tree.ts';
import { listen } from '../../local/endpoint/listen.ts';
import { openBucket } from '../../tests/linked/linked-sandbox.ts';
import { adopt } from './adopt.ts';
import { readSaved } from './read-saved.ts';
import { openRecentManifests, type RecentManifests } from './recent-manifests.ts';
import { restore } from './restore.ts';
import { save } from './save.ts';

const Bucket = 'b';
const workspace = '6f1d2c3b-0000-4000-8000-000000000001';
const time = { mtimeMs: 1_700_000_000_000 };
const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex');

type Node =
  | { readonly type: 'directory'; readonly mode: number }
  | { readonly type: 'symlink'; readonly target: string }
  | { readonly type: 'file'; readonly mode: number; readonly mtimeMs: number; readonly bytes: Uint8Array };
type Tree = ReadonlyMap<string, Node>;

const folder: Node = { type: 'directory', mode: 0o755 };
const file = (content: string | Uint8Array, mode = 0o644, mtimeMs = 1_700_000_000_000): Node => ({
  type: 'file',
  mode,
  mtimeMs,
  bytes: Buffer.from(content),
});
const treeOf = (nodes: Readonly<Record<string, Node>>): Tree => new Map(Object.entries(nodes));

type Frame = readonly [header: ArchiveHeader, payload?: Uint8Array];

function* framesOfNode(path: string, node: Node, before: Node | undefined): Generator<Frame> {
  if (node.type === 'directory') yield [{ type: 'directory', path, mode: node.mode }];
  if (node.type === 'symlink') yield [{ type: 'symlink', path, target: node.target }];
  if (node.type !== 'file') return;
  const { mode, mtimeMs, bytes } = node;
  const header = { type: 'file', path, mode, mtimeMs, size: bytes.length } as const;
  if (before?.type === 'file' && Buffer.compare(before.bytes, bytes) === 0) {
    yield [{ ...header, same: true }];
    return;
  }
  yield [header];
  for (let at = 0; at < bytes.length; at += 100_000)
    yield [{ type: 'data' }, bytes.subarray(at, at + 100_000)];
  yield [{ type: 'file-end', size: bytes.length, isWhole: true }];
}

function* framesOf(tree: Tree, base: Tree | undefined): Generator<Frame> {
  yield [{ type: 'begin', isFull: base === undefined }];
  for (const [path, node] of tree) yield* framesOfNode(path, node, base?.get(path));
  yield [{ type: 'end' }];
}

type Received = {
  readonly tree: Map<string, Node>;
  readonly headers: ArchiveHeader[];
  readonly missing: object[];
};

/** The restore of an archive in a sandbox: a file whose content is not what its hash says is missing. */
const receive = async (request: IncomingMessage): Promise<Received> => {
  const received: Received = { tree: new Map(), headers: [], missing: [] };
  let current: Extract<ArchiveHeader, { type: 'file' }> | undefined;
  let chunks: Uint8Array[] = [];
  for await (const { header, payload } of readArchive(request)) {
    if (header.type === 'data') chunks.push(Buffer.from(payload));
    else received.headers.push(header);
    if (header.type === 'directory') received.tree.set(header.path, { type: 'directory', mode: header.mode });
    if (header.type === 'symlink') received.tree.set(header.path, { type: 'symlink', target: header.target });
    if (header.type === 'file') {
      current = header;
      chunks = [];
    }
    if (header.type === 'file-end' && current !== undefined) {
      const { path, mode, mtimeMs } = current;
      const bytes = Buffer.concat(chunks);
      if (!header.isWhole) received.missing.push({ path, reason: 'lost' });
      else if (sha256(bytes) !== current.sha256) received.missing.push({ path, reason: 'differs' });
      else received.tree.set(path, { type: 'file', mode, mtimeMs, bytes });
    }
  }
  return received;
};

type Sandbox = {
  tree: Tree;
  /** The requests of each checkpoint. */
  readonly known: Map<string, Tree>;
  readonly asked: string[];
  checkpoint?: ((response: ServerResponse) => unknown) | undefined;
  restore?: ((request: IncomingMessage, response: ServerResponse) => unknown) | undefined;
  logs?: ((response: ServerResponse) => unknown) | undefined;
  received?: Received;
};

const stream = (response: ServerResponse, frames: Iterable<Frame>) =>
  pipeline(
    Readable.from(
      (function* () {
        for (const [header, payload] of frames) yield encodeArchiveFrame(header, payload);
      })(),
      { highWaterMark: 4 },
    ),
    response,
  ).catch(() => undefined);

const answerAsSandbox = async (sandbox: Sandbox, request: IncomingMessage, response: ServerResponse) => {
  const url = new URL(request.url ?? '/', 'http://sandbox');
  sandbox.asked.push(`${request.method} ${request.url} ${request.headers.authorization}`);
  if (url.pathname === '/logs') {
    if (sandbox.logs !== undefined) return sandbox.logs(response);
    const line = { number: 7, at: 1, stream: 'stderr', text: 'a line' };
    return response.end(JSON.stringify({ lines: [line] }));
  }
  if (url.pathname === '/restore') {
    if (sandbox.restore !== undefined) return sandbox.restore(request, response);
    sandbox.received = await receive(request);
    const { tree, missing } = sandbox.received;
    const files = [...tree.values()].filter(({ type }) => type === 'file').length;
    sandbox.known.set(url.searchParams.get('id') ?? '', new Map(tree));
    return response.end(JSON.stringify({ files, missing }));
  }
  if (sandbox.checkpoint !== undefined) return sandbox.checkpoint(response);
  sandbox.known.set(url.searchParams.get('id') ?? '', sandbox.tree);
  return stream(response, framesOf(sandbox.tree, sandbox.known.get(url.searchParams.get('base') ?? '')));
};

const open = async ({ recent }: { readonly recent?: RecentManifests } = {}) => {
  const { folder: home, client, calls, bucket, close } = await openBucket();
  const sandbox: Sandbox = { tree: new Map(), known: new Map(), asked: [] };
  const { url: address, stop } = await listen(async (request, response) => {
    await answerAsSandbox(sandbox, request, response);
  });
  onTestFinished(async () => {
    await stop();
    await close();
  });
  const warnings: string[] = [];
  const note = (message: string) => void warnings.push(message);
  const ignore = () => undefined;
  const context = {
    target: new URL(address),
    bucket,
    telemetry: { info: ignore, warn: note, error: note, count: ignore, duration: ignore },
    ...(recent === undefined ? {} : { recent }),
  };
  const common = { address, bearer: 'b1', workspace };
  const raw = (command: 'get' | 'list', Key = '') =>
    command === 'get'
      ? client.send(new GetObjectCommand({ Bucket, Key })).then(({ Body }) => Body?.transformToByteArray())
      : undefined;
  return {
    sandbox,
    calls,
    warnings,
    context,
    save: (base?: ManifestRef, id: string = randomUUID(), more: Partial<SaveCall> = {}) =>
      save({ kind: 'save', ...common, id, logsAfter: 3, ...(base ? { base } : {}), ...more }, context),
    restore: (manifest: ManifestRef, more: Partial<RestoreCall> = {}) =>
      restore({ kind: 'restore', ...common, claim: 1, manifest, ...more }, context),
    adopt: (call: Omit<AdoptCall, 'kind' | 'workspace'>) =>
      adopt({ kind: 'adopt', workspace, ...call }, context),
    read: async (key: string) => Buffer.from((await raw('get', key)) ?? []),
    put: (Key: string, Body: Uint8Array | string) => client.send(new PutObjectCommand({ Bucket, Key, Body })),
    drop: (Key: string) => client.send(new DeleteObjectCommand({ Bucket, Key })),
    keys: async () =>
      ((await client.send(new ListObjectsV2Command({ Bucket }))).Contents ?? []).map(({ Key = '' }) => Key),
    uploads: async () =>
      ((await client.send(new ListMultipartUploadsCommand({ Bucket }))).Uploads ?? []).length,
    filesOnDisk: async () => (await readdir(join(home, Bucket, 'bytes'))).length,
  };
};

const manifestKey = (id: string) => `workspaces/${workspace}/manifests/${id}.json`;
const packKey = (id: string) => `workspaces/${workspace}/packs/${id}`;

const saved = (answer: SaveAnswer): ManifestRef => {
  if (answer.status !== 'saved') throw new Error(JSON.stringify(answer));
  return answer.manifest;
};

const idOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

test('the base of a workspace in use is read once, and again after a minute: its object may be lost', async () => {
  let now = 0;
  const world = await open({ recent: openRecentManifests(() => now) });
  const reads = (): number => world.calls.filter((name) => name === 'GetObjectCommand').length;
  world.sandbox.tree = treeOf({ 'a.txt': file('a') });
  const first = saved(await world.save());
  world.sandbox.tree = treeOf({ 'a.txt': file('a'), 'b.txt': file('b') });
  const second = saved(await world.save(first));
  expect(await world.save(second)).toMatchObject({ status: 'unchanged' });
  expect(reads()).toBe(0);
  now = 60_000;
  expect(await world.save(second)).toMatchObject({ status: 'unchanged' });
  expect(await world.save(second)).toMatchObject({ status: 'unchanged' });
  expect(reads()).toBe(1);
  now = 120_000;
  await world.drop(manifestKey(second.id));
  expect(await world.save(second)).toMatchObject({ status: 'saved' });
});

test('no base is held of many entries, nor one that another hash names, nor more than sixteen', () => {
  const recent = openRecentManifests(() => 0);
  const manifest = (entries: number): Manifest => ({
    ...{ version: 1, id: 'm', workspace, packs: {}, obsolete: [] },
    entries: Array.from({ length: entries }, (_, at) => ({ type: 'directory', path: `${at}`, mode: 0 })),
  });
  const refs = Array.from({ length: 17 }, (_, at) => ({ id: 'm', sha256: `${at}` }));
  for (const ref of refs) recent.hold(ref, manifest(200));
  expect(refs.map((ref) => recent.get(workspace, ref) !== undefined)).toEqual([
    false,
    ...refs.slice(1).map(() => true),
  ]);
  recent.hold({ id: 'm', sha256: 'many' }, manifest(201));
  expect(recent.get(workspace, { id: 'm', sha256: 'many' })).toBeUndefined();
  expect(
    recent.get(workspace, { id: 'm', sha256: '16', workspace: 'another' as WorkspaceId }),
  ).toBeUndefined();
});

test('a first save writes one pack and a manifest, and returns its hash', async () => {
  const world = await open();
  world.sandbox.tree = treeOf({
    src: folder,
    'src/a.txt': file('aaa'),
    'src/empty': file('', 0o600),
    'src/b.txt': file('bb', 0o755),
    link: { type: 'symlink', target: 'src/a.txt' },
  });
  const answer = await world.save(undefined, idOf(1));
  const manifest = await world.read(manifestKey(idOf(1)));
  expect(answer).toEqual({
    status: 'saved',
    manifest: { id: idOf(1), sha256: sha256(manifest) },
    files: 3,
    bytes: 5,
    packs: [idOf(1)],
    leftOut: [],
    logs: [{ number: 7, at: 1, stream: 'stderr', text: 'a line' }],
  });
  expect(JSON.parse(manifest.toString())).toEqual({
    version: 1,
    id: idOf(1),
    workspace,
    entries: [
      { type: 'directory', path: 'src', mode: 0o755 },
      {
        type: 'file',
        path: 'src/a.txt',
        mode: 0o644,
        ...time,
        size: 3,
        sha256: sha256('aaa'),
        pack: idOf(1),
        offset: 0,
      },
      {
        type: 'file',
        path: 'src/empty',
        mode: 0o600,
        ...time,
        size: 0,
        sha256: sha256(''),
        pack: '',
        offset: 0,
      },
      {
        type: 'file',
        path: 'src/b.txt',
        mode: 0o755,
        ...time,
        size: 2,
        sha256: sha256('bb'),
        pack: idOf(1),
        offset: 3,
      },
      { type: 'symlink', path: 'link', target: 'src/a.txt' },
    ],
    packs: { [idOf(1)]: 5 },
    obsolete: [],
  });
  expect((await world.read(packKey(idOf(1)))).toString()).toBe('aaabb');
  expect(world.sandbox.asked).toEqual([
    `GET /checkpoint?id=${idOf(1)}&base= Bearer b1`,
    'GET /logs?after=3 Bearer b1',
  ]);
  expect(world.calls.slice(0, 2)).toEqual(['PutObjectCommand', 'PutObjectCommand']);
});

test('the next save writes only the changes and reads only its base', async () => {
  const world = await open();
  world.sandbox.tree = treeOf({ a: file('aaa'), b: file('bbb'), c: file('ccc') });
  const first = saved(await world.save(undefined, idOf(1)));
  world.sandbox.tree = treeOf({ a: file('aaa', 0o600), b: file('new'), d: file('ddd') });
  world.calls.length = 0;
  const second = saved(await world.save(first, idOf(2)));
  expect(world.calls).toEqual(['GetObjectCommand', 'PutObjectCommand', 'PutObjectCommand']);
  expect((await world.read(packKey(idOf(2)))).toString()).toBe('newddd');
  const manifest = JSON.parse((await world.read(manifestKey(second.id))).toString()) as Manifest;
  expect(
    manifest.entries.map(
      (entry) => entry.type === 'file' && [entry.path, entry.mode, entry.pack, entry.offset],
    ),
  ).toEqual([
    ['a', 0o600, idOf(1), 0],
    ['b', 0o644, idOf(2), 0],
    ['d', 0o644, idOf(2), 3],
  ]);
  expect([manifest.packs, manifest.obsolete]).toEqual([
    { [idOf(1)]: 9, [idOf(2)]: 6 },
    [manifestKey(idOf(1))],
  ]);
});

test('a save without a change writes and deletes nothing, even if times differ by a fraction', async () => {
  const world = await open();
  world.sandbox.tree = treeOf({ d: folder, 'd/a': file('aaa'), l: { type: 'symlink', target: 'd' } });
  const first = saved(await world.save());
  world.sandbox.tree = treeOf({
    d: folder,
    'd/a': file('aaa', 0o644, 1_700_000_000_000.4),
    l: { type: 'symlink', target: 'd' },
  });
  world.calls.length = 0;
  expect(await world.save(first)).toEqual({
    status: 'unchanged',
    leftOut: [],
    logs: [{ number: 7, at: 1, stream: 'stderr', text: 'a line' }],
  });
  expect(world.calls).toEqual(['GetObjectCommand']);
});

const begin: Frame = [{ type: 'begin', isFull: true }];
const beginOnBase: Frame = [{ type: 'begin', isFull: false }];
const end: Frame = [{ type: 'end' }];
const fileHeader = (path: string, size: number): Frame => [
  { type: 'file', path, mode: 0o644, mtimeMs: 1, size },
];
const data = (content: string | Uint8Array): Frame => [{ type: 'data' }, Buffer.from(content)];
const fileEnd = (size: number, isWhole = true): Frame => [{ type: 'file-end', size, isWhole }];
const megabytes = (count: number): Frame[] =>
  Array.from({ length: count * 4 }, () => data(Buffer.alloc(256 * 1024, 7)));

const same = (path: string, size: number): Frame => [
  { type: 'file', path, mode: 0o644, mtimeMs: 1, size, same: true },
];
const directory = (path: string): Frame => [{ type: 'directory', path, mode: 0o755 }];

const aaa = [fileHeader('a', 3), data('aaa'), fileEnd(3)];

test.each<[string, Frame]>([
  ['a sandbox that knows the base', beginOnBase],
  ['a sandbox that does not', begin],
])('a file that %s sends again as it was is no change', async (_title, first) => {
  const world = await open();
  world.sandbox.checkpoint = (response) => stream(response, [first, ...aaa, end]);
  const base = saved(await world.save(undefined, idOf(1)));
  expect(await world.save(base, idOf(2))).toMatchObject({ status: 'unchanged' });
  const touched = [first, directory('d'), ...aaa, end];
  world.sandbox.checkpoint = (response) => stream(response, touched);
  saved(await world.save(base, idOf(3)));
  expect(await world.keys()).toEqual([manifestKey(idOf(1)), manifestKey(idOf(3)), packKey(idOf(1))]);
});

test.each<[string, Readonly<Record<string, Node>>]>([
  ['a mode', { d: folder, a: file('aaa', 0o600), l: { type: 'symlink', target: 'a' } }],
  ['a time', { d: folder, a: file('aaa', 0o644, 5), l: { type: 'symlink', target: 'a' } }],
  [
    'the mode of a folder',
    { d: { type: 'directory', mode: 0o700 }, a: file('aaa'), l: { type: 'symlink', target: 'a' } },
  ],
  ['the target of a link', { d: folder, a: file('aaa'), l: { type: 'symlink', target: 'd' } }],
  ['what is gone', { d: folder, a: file('aaa') }],
  ['a folder that became a file', { d: file(''), a: file('aaa'), l: { type: 'symlink', target: 'a' } }],
])('a change of %s alone is saved without a pack', async (_title, now) => {
  const world = await open();
  world.sandbox.tree = treeOf({ d: folder, a: file('aaa'), l: { type: 'symlink', target: 'a' } });
  const first = saved(await world.save(undefined, idOf(1)));
  world.sandbox.tree = treeOf(now);
  saved(await world.save(first, idOf(2)));
  expect(await world.keys()).toEqual([manifestKey(idOf(1)), manifestKey(idOf(2)), packKey(idOf(1))]);
});

test('objects that a save made obsolete are deleted one save later', async () => {
  const world = await open();
  world.sandbox.tree = treeOf({ a: file('one') });
  const first = saved(await world.save(undefined, idOf(1)));
  world.sandbox.tree = treeOf({ a: file('two') });
  const second = saved(await world.save(first, idOf(2)));
  expect(await world.keys()).toEqual([
    manifestKey(idOf(1)),
    manifestKey(idOf(2)),
    packKey(idOf(1)),
    packKey(idOf(2)),
  ]);
  world.sandbox.tree = treeOf({ a: file('three') });
  saved(await world.save(second, idOf(3)));
  expect(await world.keys()).toEqual([
    manifestKey(idOf(2)),
    manifestKey(idOf(3)),
    packKey(idOf(2)),
    packKey(idOf(3)),
  ]);
});

test('objects outside the workspace are never deleted, whatever a manifest says', async () => {
  const world = await open();
  const body = JSON.stringify({
    version: 1,
    id: idOf(1),
    workspace,
    entries: [],
    packs: {},
    obsolete: ['workspaces/other/packs/p', packKey('old')],
  });
  for (const key of ['workspaces/other/packs/p', packKey('old')]) await world.put(key, 'x');
  await world.put(manifestKey(idOf(1)), body);
  world.sandbox.tree = treeOf({ a: file('a') });
  world.sandbox.known.set(idOf(1), new Map());
  saved(await world.save({ id: idOf(1), sha256: sha256(body) }, idOf(2)));
  expect(await world.keys()).toEqual([
    manifestKey(idOf(1)),
    manifestKey(idOf(2)),
    packKey(idOf(2)),
    'workspaces/other/packs/p',
  ]);
});

test('the eighteenth pack makes the next save rewrite everything as one', async () => {
  const world = await open();
  let base: ManifestRef | undefined;
  const nodes: Record<string, Node> = {};
  for (let number = 1; number <= 17; number += 1) {
    nodes[`f${number}`] = file(`content ${number}`);
    world.sandbox.tree = treeOf(nodes);
    const answer = await world.save(base, idOf(number));
    expect(answer).not.toHaveProperty('hasSameFiles');
    base = saved(answer);
  }
  world.sandbox.asked.length = 0;
  const rewritten = await world.save(base, idOf(18));
  expect(rewritten).toMatchObject({ hasSameFiles: true });
  base = saved(rewritten);
  expect(world.sandbox.asked[0]).toBe(`GET /checkpoint?id=${idOf(18)}&base= Bearer b1`);
  const manifest = JSON.parse((await world.read(manifestKey(idOf(18)))).toString()) as Manifest;
  expect([Object.keys(manifest.packs), manifest.obsolete.length]).toEqual([[idOf(18)], 18]);
  world.sandbox.tree = treeOf({ ...nodes, more: file('more') });
  saved(await world.save(base, idOf(19)));
  expect(await world.keys()).toEqual([
    manifestKey(idOf(18)),
    manifestKey(idOf(19)),
    packKey(idOf(18)),
    packKey(idOf(19)),
  ]);
});

test.each<[string, (world: Awaited<ReturnType<typeof open>>, id: string) => Promise<unknown>]>([
  ['gone', (world, id) => world.drop(manifestKey(id))],
  ['another', (world, id) => world.put(manifestKey(id), '{}')],
])('a base that is %s is no base: everything is saved', async (_title, spoil) => {
  const world = await open();
  world.sandbox.tree = treeOf({ a: file('aaa') });
  const first = saved(await world.save(undefined, idOf(1)));
  await spoil(world, first.id);
  saved(await world.save(first, idOf(2)));
  expect(world.sandbox.asked[2]).toBe(`GET /checkpoint?id=${idOf(2)}&base= Bearer b1`);
  expect((await world.read(packKey(idOf(2)))).toString()).toBe('aaa');
  expect(world.warnings).toEqual(['the base differs from the last save, so everything is saved']);
});

test.each<[string, (response: ServerResponse) => unknown]>([
  [
    'without its end',
    (response) =>
      stream(response, [begin, fileHeader('a', 20_971_520), ...megabytes(20), fileEnd(20_971_520)]),
  ],
  [
    'in the middle of a frame',
    (response) =>
      response.end(
        Buffer.concat([encodeArchiveFrame({ type: 'begin', isFull: true }), Buffer.from([0, 0, 0, 9])]),
      ),
  ],
  [
    'with its connection',
    async (response) => {
      response.write(encodeArchiveFrame(...begin));
      response.write(encodeArchiveFrame(...fileHeader('a', 20_971_520)));
      for (const frame of megabytes(20))
        if (!response.write(encodeArchiveFrame(...frame))) await once(response, 'drain');
      response.destroy();
    },
  ],
  ['before it began', (response) => response.destroy()],
  ['with a failure', (response) => response.writeHead(500).end()],
  [
    'with other words',
    (response) => response.end(Buffer.concat([Buffer.from([0, 0, 0, 2, 0, 0, 0, 0]), Buffer.from('{}')])),
  ],
])('an archive that ends %s is no save, and nothing stays in the bucket', async (_title, checkpoint) => {
  const world = await open();
  world.sandbox.checkpoint = checkpoint;
  await expect(world.save()).rejects.toThrow();
  expect([await world.keys(), await world.uploads(), await world.filesOnDisk()]).toEqual([[], 0, 0]);
});

test('a file that changed while it was read is left out, and its bytes are in no manifest', async () => {
  const world = await open();
  world.sandbox.checkpoint = (response) =>
    stream(response, [
      begin,
      fileHeader('log', 3),
      data('xx'),
      fileEnd(2, false),
      fileHeader('a', 1),
      data('a'),
      fileEnd(1),
      [{ type: 'left-out', path: 'socket', reason: 'it is no file' }],
      end,
    ]);
  expect(await world.save(undefined, idOf(1))).toMatchObject({
    status: 'saved',
    files: 1,
    bytes: 1,
    leftOut: [
      { path: 'log', reason: 'it changed while it was read' },
      { path: 'socket', reason: 'it is no file' },
    ],
  });
  const manifest = JSON.parse((await world.read(manifestKey(idOf(1)))).toString()) as Manifest;
  expect([manifest.entries.map(({ path }) => path), manifest.packs]).toEqual([['a'], { [idOf(1)]: 3 }]);
});

test('a pack without references is deleted', async () => {
  const world = await open();
  world.sandbox.checkpoint = (response) =>
    stream(response, [begin, fileHeader('log', 3), ...megabytes(9), fileEnd(2, false), end]);
  saved(await world.save(undefined, idOf(1)));
  expect([await world.keys(), await world.uploads()]).toEqual([[manifestKey(idOf(1))], 0]);
});

test.each<[string, readonly Frame[]]>([
  ['calls a file unchanged though it does not know the base', [begin, same('a', 3), end]],
  ['calls a file unchanged that the base lacks', [beginOnBase, same('b', 3), end]],
  ['calls a file unchanged that had another size', [beginOnBase, same('a', 4), end]],
  ['leads out of the workspace', [begin, directory('..'), end]],
  ['names a path from the root', [begin, directory('/etc'), end]],
  ['hides a step upwards', [begin, directory('x'), directory('x/../../y'), end]],
  ['sends a file before its folder', [begin, fileHeader('d/a', 0), fileEnd(0), end]],
  [
    'sends a file through a link',
    [begin, [{ type: 'symlink', path: 'd', target: '/etc' }], fileHeader('d/a', 0), fileEnd(0), end],
  ],
  ['sends a path twice', [begin, directory('d'), directory('d'), end]],
  ['sends content of no file', [begin, data('x'), end]],
  ['ends a file that is not open', [begin, fileEnd(0), end]],
  ['opens a file in a file', [begin, fileHeader('a', 0), fileHeader('b', 0)]],
  ['ends in a file', [begin, fileHeader('a', 0), end]],
  ['says another length than it sent', [begin, fileHeader('a', 1), data('xy'), fileEnd(1), end]],
  ['begins twice', [begin, begin, end]],
  ['does not begin', [directory('d'), end]],
  ['goes on after its end', [begin, end, directory('d')]],
])('an archive that %s is refused, and nothing stays', async (_title, frames) => {
  const world = await open();
  world.sandbox.tree = treeOf({ a: file('aaa') });
  const first = saved(await world.save(undefined, idOf(1)));
  world.sandbox.checkpoint = (response) => stream(response, frames);
  expect(await world.save(first, idOf(2))).toMatchObject({ status: 'refused', code: 'invalid_request' });
  expect(await world.keys()).toEqual([manifestKey(idOf(1)), packKey(idOf(1))]);
});

test.each([429, 413])('the sandbox’s own refusal of a large workspace is passed on: %i', async (status) => {
  const world = await open();
  world.sandbox.checkpoint = (response) =>
    response
      .writeHead(status)
      .end(JSON.stringify({ error: { code: 'resource_limit_exceeded', message: 'too large' } }));
  expect(await world.save()).toEqual({
    status: 'refused',
    code: 'resource_limit_exceeded',
    message: 'too large',
  });
});

test('the link also refuses more than 50000 entries', async () => {
  const world = await open();
  const folders = (count: number) => [
    begin,
    ...Array.from({ length: count }, (_, index) => directory(`d${index}`)),
    end,
  ];
  world.sandbox.checkpoint = (response) => stream(response, folders(50_000));
  expect(await world.save()).toMatchObject({ status: 'saved' });
  world.sandbox.checkpoint = (response) => stream(response, folders(50_001));
  expect(await world.save()).toEqual({
    status: 'refused',
    code: 'resource_limit_exceeded',
    message: 'the workspace is too large to be saved: more than 50000 files and folders',
  });
});

test('left-out names count as entries, so that they cannot fill the memory', async () => {
  const world = await open();
  const names = (count: number): Frame[] =>
    Array.from({ length: count }, (_, index) => [{ type: 'left-out', path: `s${index}`, reason: 'no file' }]);
  world.sandbox.checkpoint = (response) => stream(response, [begin, ...names(1002), end]);
  const answer = await world.save();
  expect(answer.status === 'saved' && [answer.leftOut.length, answer.leftOut.at(-1)]).toEqual([
    1001,
    { path: '', reason: 'and 2 more' },
  ]);
  world.sandbox.checkpoint = (response) => stream(response, [begin, ...names(50_001), end]);
  expect(await world.save()).toMatchObject({ status: 'refused', code: 'resource_limit_exceeded' });
});

test('names that would fill a manifest over 64 MB are refused', async () => {
  const world = await open();
  const long = Array.from({ length: 17_000 }, (_, index) => directory(`${index}${'x'.repeat(4000)}`));
  world.sandbox.checkpoint = (response) => stream(response, [begin, ...long, end]);
  expect(await world.save()).toMatchObject({ status: 'refused', code: 'resource_limit_exceeded' });
});

test('the link also refuses more than 2 GB, sent or only declared', async () => {
  const world = await open();
  const size = 2_147_483_645;
  const body = JSON.stringify({
    ...{ version: 1, id: idOf(1), workspace, packs: { p: size }, obsolete: [] },
    entries: [
      { ...time, type: 'file', path: 'a', mode: 0o644, size, sha256: sha256('a'), pack: 'p', offset: 0 },
    ],
  });
  await world.put(manifestKey(idOf(1)), body);
  const base = { id: idOf(1), sha256: sha256(body) };
  const sent = (content: string): Frame[] => [
    fileHeader('b', content.length),
    data(content),
    fileEnd(content.length),
  ];
  world.sandbox.checkpoint = (response) =>
    stream(response, [beginOnBase, same('a', size), ...sent('abc'), end]);
  expect(await world.save(base)).toMatchObject({ status: 'saved', bytes: 2_147_483_648 });
  const refused = {
    status: 'refused',
    code: 'resource_limit_exceeded',
    message: 'the workspace is too large to be saved: more than 2147483648 bytes',
  };
  for (const frames of [
    [beginOnBase, same('a', size), ...sent('abcd'), end],
    [beginOnBase, ...sent('abcd'), same('a', size), end],
  ]) {
    world.sandbox.checkpoint = (response) => stream(response, frames);
    expect(await world.save(base)).toEqual(refused);
  }
});

/** A checkpoint that says at its end how many lines the sandbox has had. */
const linesAre = (world: Awaited<ReturnType<typeof open>>, count: string): void => {
  world.sandbox.checkpoint = (response) => {
    response.writeHead(200, { trailer: logNumberTrailer }).addTrailers({ [logNumberTrailer]: count });
    return stream(response, framesOf(new Map(), undefined));
  };
};
const pathsOf = ({ sandbox: { asked } }: Awaited<ReturnType<typeof open>>): readonly string[] =>
  asked.map((line) => line.split(/[ ?]/)[1] ?? '');

test('a sandbox that has no new line is not asked for its lines: a save is one request', async () => {
  const world = await open();
  linesAre(world, '3');
  expect(await world.save()).toMatchObject({ status: 'saved', logs: [] });
  expect(pathsOf(world)).toEqual(['/checkpoint']);
});

test.each(['4', '', 'many'])('where the checkpoint says %j lines they are asked for', async (count) => {
  const world = await open();
  linesAre(world, count);
  expect(await world.save()).toMatchObject({ status: 'saved', logs: [{ number: 7 }] });
  expect(pathsOf(world)).toEqual(['/checkpoint', '/logs']);
});

test.each<[string, (response: ServerResponse) => unknown]>([
  ['fail', (response) => response.writeHead(500).end()],
  ['never end', (response) => response.end('x'.repeat(300_000))],
  ['break off', (response) => response.destroy()],
])('logs that %s are no failure of the save', async (_title, logs) => {
  const world = await open();
  world.sandbox.logs = logs;
  expect(await world.save()).toMatchObject({ status: 'saved', logs: [] });
  expect(world.warnings).toHaveLength(1);
});

test('a save fails when the bucket fails', async () => {
  const world = await open();
  world.sandbox.tree = treeOf({ a: file('aaa') });
  const bucket = makeWorkspaceBucket(new S3Client({ ...noCloud }), Bucket);
  const call = {
    kind: 'save',
    address: 'http://x',
    bearer: 'b',
    workspace,
    id: idOf(1),
    logsAfter: 0,
  } as const;
  await expect(save(call, { ...world.context, bucket })).rejects.toThrow();
  expect(world.warnings).toEqual(['an interrupted save left objects behind']);
});

const noCloud = {
  endpoint: 'http://127.0.0.1:9',
  region: 'us-east-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  maxAttempts: 1,
};

test('300 MB pass through the link in parts, with constant memory', async () => {
  const world = await open();
  const block = Buffer.alloc(256 * 1024);
  world.sandbox.checkpoint = (response) =>
    stream(
      response,
      (function* (): Generator<Frame> {
        yield begin;
        yield fileHeader('big', 314_572_800);
        for (let count = 0; count < 1200; count += 1) {
          block.writeUInt32BE(count);
          yield [{ type: 'data' }, block];
        }
        yield fileEnd(314_572_800);
        yield end;
      })(),
    );
  const before = process.memoryUsage().rss;
  let highest = 0;
  const watch = setInterval(() => {
    highest = Math.max(highest, process.memoryUsage().rss - before);
  }, 10);
  const manifest = saved(await world.save(undefined, idOf(1)));
  world.sandbox.restore = async (request, response) => {
    let bytes = 0;
    const hash = createHash('sha256');
    for await (const { header, payload } of readArchive(request)) {
      if (header.type !== 'data') continue;
      bytes += payload.length;
      hash.update(payload);
    }
    response.end(
      JSON.stringify({ files: 1, missing: [{ path: hash.digest('hex'), reason: String(bytes) }] }),
    );
  };
  const answer = await world.restore(manifest);
  clearInterval(watch);
  const { entries } = JSON.parse((await world.read(manifestKey(idOf(1)))).toString()) as Manifest;
  const hash = entries[0]?.type === 'file' ? entries[0].sha256 : '';
  expect(answer).toEqual({ status: 'restored', files: 1, missing: [{ path: hash, reason: '314572800' }] });
  expect(world.calls.filter((name) => name === 'UploadPartCommand')).toHaveLength(38);
  expect(highest).toBeLessThan(200 * 1024 * 1024);
});

test('5000 small files take two writes to save and two reads to restore', async () => {
  const world = await open();
  const nodes: Record<string, Node> = { d: folder };
  for (let index = 0; index < 5000; index += 1) nodes[`d/f${index}`] = file(`content of ${index}`);
  world.sandbox.tree = treeOf(nodes);
  const manifest = saved(await world.save());
  expect(world.calls).toEqual(['PutObjectCommand', 'PutObjectCommand']);
  world.calls.length = 0;
  expect(await world.restore(manifest)).toEqual({ status: 'restored', files: 5000, missing: [] });
  expect(world.calls).toEqual(['GetObjectCommand', 'GetObjectCommand']);
});

test('a pack with every other file changed is still read once', async () => {
  const world = await open();
  const nodes: Record<string, Node> = {};
  for (let index = 0; index < 200; index += 1) nodes[`f${index}`] = file(`content of ${index}`);
  world.sandbox.tree = treeOf(nodes);
  const first = saved(await world.save());
  for (let index = 0; index < 200; index += 2) nodes[`f${index}`] = file(`changed ${index}`);
  world.sandbox.tree = treeOf(nodes);
  const second = saved(await world.save(first));
  world.calls.length = 0;
  expect(await world.restore(second)).toEqual({ status: 'restored', files: 200, missing: [] });
  expect(world.calls).toEqual(['GetObjectCommand', 'GetObjectCommand', 'GetObjectCommand']);
  expect(world.sandbox.received?.tree).toEqual(new Map(world.sandbox.tree));
});

const saveThree = async () => {
  const world = await open();
  world.sandbox.tree = treeOf({ a: file('aaa'), b: file('bbb'), c: file('ccc'), e: file(''), d: folder });
  return { world, manifest: saved(await world.save(undefined, idOf(1))) };
};

test('a byte changed in the bucket arrives under the old hash, so that the sandbox refuses it', async () => {
  const { world, manifest } = await saveThree();
  await world.put(packKey(idOf(1)), 'aaabXbccc');
  expect(await world.restore(manifest)).toEqual({
    status: 'restored',
    files: 3,
    missing: [{ path: 'b', reason: 'differs' }],
  });
  expect(world.sandbox.received?.headers.filter((header) => header.type === 'file')[1]).toEqual({
    ...{ type: 'file', path: 'b', mode: 0o644, mtimeMs: 1_700_000_000_000, size: 3 },
    sha256: '3e744b9dc39389baf0c5a0660589b8402f3dbb49b89b3e75f2c9355852a3c677',
  });
});

test.each<[string, (world: Awaited<ReturnType<typeof open>>) => Promise<unknown>, string[]]>([
  ['gone', (world) => world.drop(packKey(idOf(1))), ['a', 'b', 'c']],
  ['cut in a file', (world) => world.put(packKey(idOf(1)), 'aaabb'), ['b', 'c']],
  ['cut between files', (world) => world.put(packKey(idOf(1)), 'aaabbb'), ['c']],
  ['empty', (world) => world.put(packKey(idOf(1)), ''), ['a', 'b', 'c']],
])('a pack that is %s makes its files missing and no others', async (_title, spoil, lost) => {
  const { world, manifest } = await saveThree();
  await spoil(world);
  expect(await world.restore(manifest)).toEqual({
    status: 'restored',
    files: 4 - lost.length,
    missing: lost.map((path) => ({ path, reason: 'lost' })),
  });
});

test.each<[string, (world: Awaited<ReturnType<typeof open>>) => Promise<unknown>]>([
  ['gone', (world) => world.drop(manifestKey(idOf(1)))],
  [
    'changed',
    async (world) => {
      const text = (await world.read(manifestKey(idOf(1)))).toString();
      await world.put(manifestKey(idOf(1)), text.replace('"mode":420', '"mode":511'));
    },
  ],
])('a manifest that is %s is refused, and the sandbox hears nothing', async (_title, spoil) => {
  const { world, manifest } = await saveThree();
  await spoil(world);
  world.sandbox.asked.length = 0;
  expect(await world.restore(manifest)).toEqual({
    status: 'refused',
    reason: 'the manifest is not the one that was saved',
  });
  expect(world.sandbox.asked).toEqual([]);
});

test('a manifest of another workspace is refused', async () => {
  const { world, manifest } = await saveThree();
  const other = '6f1d2c3b-0000-4000-8000-000000000002';
  await world.put(`workspaces/${other}/manifests/${idOf(1)}.json`, await world.read(manifestKey(idOf(1))));
  const call = {
    kind: 'restore',
    address: 'http://x',
    bearer: 'b',
    workspace: other,
    claim: 1,
    manifest,
  } as const;
  expect(await restore(call, world.context)).toMatchObject({ status: 'refused' });
});

test.each<[string, (request: IncomingMessage, response: ServerResponse) => unknown]>([
  ['hangs up', (request) => request.destroy()],
  ['refuses', (_request, response) => response.writeHead(409).end()],
  [
    'says something else',
    (request, response) => request.resume().once('end', () => response.end('{"files":"all"}')),
  ],
])('a sandbox that %s has restored nothing', async (_title, answer) => {
  const { world, manifest } = await saveThree();
  world.sandbox.restore = answer;
  await expect(world.restore(manifest)).rejects.toThrow();
});

test('if the bucket fails in the middle, the sandbox gets no end marker', async () => {
  const world = await open();
  world.sandbox.tree = treeOf({ a: file(Buffer.alloc(1_000_000, 1)) });
  const manifest = saved(await world.save());
  const cut = Promise.withResolvers<unknown>();
  world.sandbox.restore = (request) => void receive(request).then(cut.resolve, cut.reject);
  const bucket = {
    ...world.context.bucket,
    readRange: async function* () {
      yield Buffer.alloc(500_000, 1);
      await world.keys();
      throw new Error('the bucket broke');
    },
  };
  const call = { kind: 'restore', address: 'http://x', bearer: 'b', workspace, claim: 1, manifest } as const;
  const outcomes = await Promise.allSettled([restore(call, { ...world.context, bucket }), cut.promise]);
  expect(outcomes).toMatchObject([
    { status: 'rejected', reason: { message: 'the bucket broke' } },
    { status: 'rejected', reason: { message: 'aborted' } },
  ]);
});

const anyName = fc.stringMatching(/^[a-c]$/);
const anyFile = fc.tuple(
  fc.uint8Array({ maxLength: 300 }),
  fc.constantFrom(0o600, 0o644, 0o755),
  fc.nat(2_000_000_000),
);
const anyNode: fc.Arbitrary<Node> = fc.oneof(
  anyFile.map(([bytes, mode, mtimeMs]) => file(bytes, mode, mtimeMs)),
  fc
    .string({ minLength: 1, maxLength: 20, unit: 'grapheme' })
    .map((target): Node => ({ type: 'symlink', target })),
  fc.constant(folder),
);
/** Folders come into being as paths ask for them; a path through a file is none. */
const anyTree = fc
  .array(fc.tuple(fc.array(anyName, { minLength: 1, maxLength: 3 }), anyNode), { maxLength: 12 })
  .map((wishes): Tree => {
    const tree = new Map<string, Node>();
    for (const [segments, node] of wishes) {
      const parents = segments.slice(1).map((_, index) => segments.slice(0, index + 1).join('/'));
      if (parents.some((path) => (tree.get(path) ?? folder).type !== 'directory')) continue;
      for (const path of parents) if (!tree.has(path)) tree.set(path, folder);
      if (!tree.has(segments.join('/'))) tree.set(segments.join('/'), node);
    }
    return tree;
  });

const plain = (tree: Tree | undefined) =>
  [...(tree ?? [])]
    .map(([path, node]) => [path, node.type === 'file' ? { ...node, bytes: [...node.bytes] } : node] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));

test('after any sequence of changes the last save restores the workspace unchanged', async () => {
  const world = await open();
  await fc.assert(
    fc.asyncProperty(fc.array(anyTree, { minLength: 1, maxLength: 5 }), async (trees) => {
      let base: ManifestRef | undefined;
      for (const tree of trees) {
        world.sandbox.tree = tree;
        const answer = await world.save(base);
        if (answer.status === 'saved') base = answer.manifest;
      }
      if (base === undefined) throw new Error('nothing was ever saved');
      expect(await world.restore(base)).toMatchObject({ status: 'restored', missing: [] });
      expect(plain(world.sandbox.received?.tree)).toEqual(plain(trees.at(-1)));
    }),
    { numRuns: 40 },
  );
});

test('a saved file is read without a sandbox, whole or not at all', async () => {
  const world = await open();
  world.sandbox.tree = treeOf({ src: folder, 'src/a.txt': file('aaa'), 'src/b.txt': file('bbb') });
  const manifest = saved(await world.save());
  const read = (ref: ManifestRef, want: SavedWant, path: string) =>
    readSaved({ kind: 'saved', workspace, manifest: ref, savedAt: 9000, want, path }, world.context);
  const whole = await read(manifest, 'file', 'src/b.txt');
  expect(await new Response(whole.body).text()).toBe('bbb');
  const listed = await read(manifest, 'folder', '.');
  expect(JSON.parse(String(listed.body))).toEqual({
    files: [{ path: 'src', name: 'src', type: 'directory', size: 0, modifiedAt: '1970-01-01T00:00:09.000Z' }],
  });
  const deep = await read(manifest, 'tree', '/workspace/src');
  const { files } = (await new Response(deep.body).json()) as { files: { path: string; size: number }[] };
  expect(files.map(({ path, size }) => [path, size])).toEqual([
    ['src/a.txt', 3],
    ['src/b.txt', 3],
  ]);
  const one = await read(manifest, 'stat', 'src/b.txt');
  expect(JSON.parse(String(one.body))).toMatchObject({ path: 'src/b.txt', type: 'file', size: 3 });
  const archive = await read(manifest, 'archive', '.');
  const tar = gunzipSync(await new Response(archive.body).arrayBuffer());
  expect([...tar.toString('latin1').matchAll(/src\/[ab]?[.\w]*|(?:aaa|bbb)/g)].map(String)).toEqual([
    'src/',
    'src/a.txt',
    'aaa',
    'src/b.txt',
    'bbb',
  ]);
  expect((await read(manifest, 'file', 'src')).statusCode).toBe(400);
  expect((await read(manifest, 'archive', 'src/b.txt')).statusCode).toBe(400);
  expect((await read(manifest, 'file', '../x')).statusCode).toBe(400);
  expect((await read(manifest, 'file', 'src/c.txt')).statusCode).toBe(404);
  expect((await read({ ...manifest, sha256: 'f'.repeat(64) }, 'file', 'src/b.txt')).statusCode).toBe(500);
  const [pack = ''] = (await world.keys()).filter((key) => key.includes('/packs/'));
  await world.put(pack, 'xxxxxx');
  const other = await read(manifest, 'file', 'src/b.txt');
  await expect(new Response(other.body).text()).rejects.toThrow();
  await world.drop(pack);
  const none = await read(manifest, 'file', 'src/b.txt');
  await expect(new Response(none.body).text()).rejects.toThrow();
  const broken = await read(manifest, 'archive', '.');
  await expect(new Response(broken.body).arrayBuffer()).rejects.toThrow();
});

const forkId = '6f1d2c3b-0000-4000-8000-000000000002' as WorkspaceId;

test('SN5: a fork restores and saves over the packs of its source, and deletes nothing of that', async () => {
  const world = await open();
  const tree = treeOf({ 'old.txt': file('old'), 'new.txt': file('before') });
  world.sandbox.tree = tree;
  const source = saved(await world.save(undefined, idOf(1)));
  const base = { ...source, workspace: workspace as WorkspaceId };
  const ofFork = { workspace: forkId };
  expect(await world.restore(base, ofFork)).toMatchObject({ status: 'restored', files: 2, missing: [] });
  expect(plain(world.sandbox.received?.tree)).toEqual(plain(tree));
  world.sandbox.tree = new Map([...tree, ['new.txt', file('after')]]);
  const first = await world.save(base, idOf(2), ofFork);
  expect(first).toMatchObject({ status: 'saved', packs: [`${workspace}/${idOf(1)}`, idOf(2)] });
  world.sandbox.tree = treeOf({ 'new.txt': file('last') });
  const second = saved(await world.save(saved(first), idOf(3), ofFork));
  const third = await world.save(second, idOf(4), ofFork);
  expect(third).toMatchObject({ status: 'unchanged' });
  expect(await world.restore(source)).toMatchObject({ files: 2, missing: [] });
  expect(await world.restore({ ...source, workspace: forkId }, ofFork)).toMatchObject({ status: 'refused' });
});

test('obsolete objects that are kept stay, and all stay while it is not known which are', async () => {
  const world = await open();
  const change = async (base: ManifestRef | undefined, id: number, more: Partial<SaveCall> = {}) => {
    world.sandbox.tree = treeOf({ 'a.txt': file(`content ${id}`) });
    return saved(await world.save(base, idOf(id), more));
  };
  const objects = (...ids: readonly number[]) =>
    ids.flatMap((id) => [manifestKey(idOf(id)), packKey(idOf(id))]);
  const present = async () => (await world.keys()).toSorted();
  let base = await change(undefined, 1);
  for (const id of [2, 3]) base = await change(base, id, { obsolete: 'later' });
  expect(await present()).toEqual(objects(1, 2, 3).toSorted());
  base = await change(base, 4, { obsolete: { kept: [`manifests/${idOf(1)}.json`, `packs/${idOf(1)}`] } });
  expect(await present()).toEqual(objects(1, 3, 4).toSorted());
  await change(base, 5);
  expect(await present()).toEqual(objects(1, 4, 5).toSorted());
});

test('objects that are held stay until a save no longer holds them', async () => {
  const world = await open();
  const change = async (base: ManifestRef | undefined, id: number, more: Partial<SaveCall> = {}) => {
    world.sandbox.tree = treeOf({ 'a.txt': file(`content ${id}`) });
    return saved(await world.save(base, idOf(id), more));
  };
  const held = (id: number) => [`manifests/${idOf(id)}.json`, `packs/${idOf(id)}`];
  const has = async (id: number) => (await world.keys()).includes(manifestKey(idOf(id)));
  let base = await change(undefined, 1);
  base = await change(base, 2);
  for (const id of [3, 4]) {
    base = await change(base, id, { obsolete: { kept: [], held: [...held(1), ...held(2)] } });
    expect(await has(1)).toBe(true);
  }
  // Held goes before kept: nothing but a later save would delete it.
  base = await change(base, 5, { obsolete: { kept: held(1), held: held(1) } });
  expect([await has(1), await has(2)]).toEqual([true, false]);
  await change(base, 6);
  expect(await has(1)).toBe(false);
});

test('an adopted manifest has the contents of the other one, and makes the base obsolete', async () => {
  const world = await open();
  world.sandbox.tree = treeOf({ 'a.txt': file('first') });
  const first = saved(await world.save(undefined, idOf(1)));
  world.sandbox.tree = treeOf({ 'a.txt': file('second') });
  const second = saved(await world.save(first, idOf(2)));
  const kept = [`manifests/${idOf(1)}.json`, `packs/${idOf(1)}`];
  const restored = await world.adopt({ id: idOf(3), from: first, base: second, obsolete: { kept } });
  expect(restored).toMatchObject({ status: 'adopted', files: 1, bytes: 5, packs: [idOf(1)] });
  if (restored.status !== 'adopted') throw new Error('it was refused');
  expect(await world.restore(restored.manifest)).toMatchObject({ files: 1, missing: [] });
  expect(plain(world.sandbox.received?.tree)).toEqual(plain(treeOf({ 'a.txt': file('first') })));
  world.sandbox.tree = treeOf({ 'a.txt': file('third') });
  await world.save(restored.manifest, idOf(4));
  expect((await world.keys()).toSorted()).toEqual(
    [1, 3, 4]
      .flatMap((id) => (id === 3 ? [manifestKey(idOf(id))] : [manifestKey(idOf(id)), packKey(idOf(id))]))
      .toSorted(),
  );
  expect(await world.adopt({ id: idOf(5) })).toMatchObject({ status: 'adopted', files: 0, packs: [] });
  const forged = { ...first, sha256: 'f'.repeat(64) };
  expect(await world.adopt({ id: idOf(6), from: forged })).toMatchObject({ status: 'refused' });
});
