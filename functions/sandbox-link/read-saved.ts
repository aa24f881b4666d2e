/**
 * Reads a saved workspace without a sandbox: a folder, everything below it, one entry, the bytes of one file out of its
 * pack, a folder as an archive.
 *
 * Answers have the shapes of a sandbox's server. A file with other bytes than the saved ones fails in its middle: it
 * never ends as if it were whole.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { WorkspaceBucket } from '#shared/adapters/aws/workspace-bucket.ts';
import type { StreamedResult } from '#shared/adapters/lambda/lambda-runtime.ts';
import type { SavedCall } from '#shared/contracts/sandbox-link.ts';
import { encodeTarHeader, type TarEntry, tarEnd, tarPadding } from '#shared/contracts/tar.ts';
import type { ManifestEntry } from '#shared/domain/checkpoint.ts';
import {
  type ListedEntry,
  listed,
  type SavedFile,
  savedBelow,
  savedEntryAt,
} from '#shared/domain/saved-tree.ts';
import { AppError, type ErrorCode, errorStatus } from '#shared/errors.ts';
import type { Telemetry } from '#shared/ports/telemetry.ts';
import { packKey, readManifest } from './manifest.ts';

export const readSaved = async (
  { workspace, manifest: ref, savedAt, want, path }: SavedCall,
  { bucket, telemetry }: { readonly bucket: WorkspaceBucket; readonly telemetry: Telemetry },
): Promise<StreamedResult> => {
  const manifest = await readManifest(bucket, workspace, ref);
  if (manifest === undefined) {
    telemetry.error('a manifest is not the one that was saved', { workspace, manifest: ref.id });
    return refused('internal_error', 'the saved workspace cannot be read');
  }
  const found = savedEntryAt(manifest.entries, path);
  if (found.kind === 'refused') return refused(found.code, found.message);
  if (want === 'stat') return json(200, statOf(found, savedAt));
  if (found.kind !== kindOf[want])
    return refused('invalid_request', `${JSON.stringify(path)} is a ${found.kind}`);
  if (found.kind === 'file')
    return streamed('application/octet-stream', contentOf(bucket, workspace, found.file));
  const below = want === 'folder' ? [] : savedBelow(manifest.entries, found.path);
  const content = (file: SavedFile) => contentOf(bucket, workspace, file);
  if (want === 'archive') return streamed('application/gzip', archiveOf(below, { savedAt, content }));
  if (want === 'tree') return streamed('application/json', treeOf(below, { savedAt, named: found.named }));
  const pathOf = (name: string): string => (found.named === '' ? name : `${found.named}/${name}`);
  return json(200, {
    files: found.entries.map((entry) => ({ path: pathOf(entry.name), ...listedView(entry, savedAt) })),
  });
};

const kindOf = { file: 'file', folder: 'folder', tree: 'folder', archive: 'folder' } as const;

type Found = Exclude<ReturnType<typeof savedEntryAt>, { kind: 'refused' }>;

const statOf = (found: Found, savedAt: number) => {
  const name = found.named.split('/').at(-1) ?? '';
  const entry: ListedEntry =
    found.kind === 'file' ? listed(found.file, name) : { name, type: 'directory', size: 0 };
  return { path: found.named, ...listedView(entry, savedAt) };
};

const streamed = (
  type: string,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): StreamedResult => ({
  statusCode: 200,
  headers: { 'content-type': type },
  body: Readable.toWeb(Readable.from(pieces, { highWaterMark: 2 })) as ReadableStream,
});

async function* contentOf(
  bucket: WorkspaceBucket,
  workspace: string,
  { pack, offset, size, sha256 }: SavedFile,
): AsyncGenerator<Uint8Array> {
  if (size === 0) return;
  const hash = createHash('sha256');
  for await (const piece of bucket.readRange(packKey(workspace, pack), { offset, length: size })) {
    hash.update(piece);
    yield piece;
  }
  if (hash.digest('hex') !== sha256) throw new Error('a saved file does not match its hash');
}

const refused = (code: ErrorCode, message: string): StreamedResult =>
  json(errorStatus(new AppError(code, message)), { error: { code, message } });

const json = (statusCode: number, body: unknown): StreamedResult => ({
  statusCode,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

type Below = readonly { readonly below: string; readonly entry: ManifestEntry }[];

/** Folders and links are saved without a time: they are no younger than the checkpoint. */
const listedView = ({ modifiedAt, ...entry }: ListedEntry, savedAt: number) => ({
  ...entry,
  modifiedAt: new Date(modifiedAt ?? savedAt).toISOString(),
});

const entriesPerPiece = 500;

function* treeOf(
  entries: Below,
  { savedAt, named }: { readonly savedAt: number; readonly named: string },
): Generator<Uint8Array> {
  let text = '{"files":[';
  for (const [at, { below, entry }] of entries.entries()) {
    const path = named === '' ? below : `${named}/${below}`;
    const view = { path, ...listedView(listed(entry, below.split('/').at(-1) ?? ''), savedAt) };
    text += `${at === 0 ? '' : ','}${JSON.stringify(view)}`;
    if (at % entriesPerPiece !== entriesPerPiece - 1) continue;
    yield Buffer.from(text);
    text = '';
  }
  yield Buffer.from(`${text}]}`);
}

type ArchiveOptions = {
  readonly savedAt: number;
  readonly content: (file: SavedFile) => AsyncIterable<Uint8Array>;
};

/** A gzipped tar archive of the folder: it holds one piece of one file at a time. */
async function* archiveOf(entries: Below, options: ArchiveOptions): AsyncGenerator<Uint8Array> {
  const gzip = createGzip({ chunkSize: 64 * 1024 });
  // Its failure reaches the reader of the output.
  pipeline(Readable.from(tarOf(entries, options), { highWaterMark: 1 }), gzip).catch(() => undefined);
  yield* gzip as AsyncIterable<Uint8Array>;
}

async function* tarOf(entries: Below, { savedAt, content }: ArchiveOptions): AsyncGenerator<Uint8Array> {
  for (const { below, entry } of entries) {
    yield encodeTarHeader(tarEntryOf(entry, below, savedAt));
    if (entry.type !== 'file') continue;
    yield* content(entry);
    yield new Uint8Array(tarPadding(entry.size));
  }
  yield tarEnd();
}

/** Links have no mode of their own. */
const tarEntryOf = (entry: ManifestEntry, path: string, savedAt: number): TarEntry => {
  switch (entry.type) {
    case 'file':
      return { type: 'file', path, mode: entry.mode, mtimeMs: entry.mtimeMs, size: entry.size };
    case 'directory':
      return { type: 'directory', path, mode: entry.mode, mtimeMs: savedAt };
    case 'symlink':
      return { type: 'symlink', path, mode: 0o777, mtimeMs: savedAt, target: entry.target };
  }
};
