/**
 * A saved folder with everything below it: as a list, and as a gzipped tar archive, both in pieces.
 *
 * The archive holds one piece of one file at a time. A file with other bytes than the saved ones breaks it off.
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { encodeTarHeader, type TarEntry, tarEnd, tarPadding } from '#shared/contracts/tar.ts';
import type { ManifestEntry } from '#shared/domain/checkpoint.ts';
import { type ListedEntry, listed, type SavedFile } from '#shared/domain/saved-tree.ts';

type Below = readonly { readonly below: string; readonly entry: ManifestEntry }[];

/** Folders and links are saved without a time: they are no younger than the checkpoint. */
export const listedView = ({ modifiedAt, ...entry }: ListedEntry, savedAt: number) => ({
  ...entry,
  modifiedAt: new Date(modifiedAt ?? savedAt).toISOString(),
});

const entriesPerPiece = 500;

export function* treeOf(
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

export async function* archiveOf(entries: Below, options: ArchiveOptions): AsyncGenerator<Uint8Array> {
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
