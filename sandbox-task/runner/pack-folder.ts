/**
 * A folder as a gzipped tar archive, in pieces; its entries are named from the folder.
 *
 * Links are entries and are not followed. Sockets, FIFOs, devices, partials, and files that even their owner may not
 * read are left out. A file that becomes shorter while it is read breaks the archive off: it never ends as if it were whole.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { encodeTarHeader, tarEnd, tarPadding } from '#shared/contracts/tar.ts';
import { FileRefusal, type Roots, resolveInWorkspace, walkWorkspace } from './workspace-path.ts';

const pieceBytesMin = 128 * 1024;
const readBytesMax = 256 * 1024;

export async function* packSteps(roots: Roots, path: string): AsyncGenerator<Buffer, Buffer> {
  const folder = await resolveInWorkspace(roots, path);
  if (!lstatSync(folder).isDirectory())
    throw new FileRefusal('invalid_request', `${path} is not a folder: ask for it without archive`);
  const gzip = createGzip({ chunkSize: 64 * 1024 });
  // Its failure reaches the reader of the output.
  pipeline(Readable.from(tarOf(folder), { highWaterMark: 1 }), gzip).catch(() => undefined);
  let pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of gzip as AsyncIterable<Buffer>) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes < pieceBytesMin) continue;
    yield Buffer.concat(pieces);
    pieces = [];
    bytes = 0;
  }
  return Buffer.concat(pieces);
}

function* tarOf(folder: string): Generator<Uint8Array> {
  for (const entry of walkWorkspace(folder)) {
    if (!('stat' in entry)) continue;
    const { path, stat } = entry;
    const traits = { path, mode: Number(stat.mode), mtimeMs: Number(stat.mtimeMs) };
    if (stat.isDirectory()) yield encodeTarHeader({ ...traits, type: 'directory' });
    else if (stat.isSymbolicLink()) yield* linkOf(folder, traits);
    else if (stat.isFile()) yield* fileOf(folder, traits);
  }
  yield tarEnd();
}

type Named = { readonly path: string; readonly mode: number; readonly mtimeMs: number };

function* linkOf(folder: string, traits: Named): Generator<Uint8Array> {
  const target = unlessGone(() => readlinkSync(join(folder, traits.path)));
  if (target !== undefined) yield encodeTarHeader({ ...traits, type: 'symlink', target });
}

function* fileOf(folder: string, traits: Named): Generator<Uint8Array> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const descriptor = unlessGone(() => openSync(join(folder, traits.path), flags));
  if (descriptor === undefined) return;
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) return;
    const { size } = stat;
    yield encodeTarHeader({ ...traits, type: 'file', size });
    for (let left = size; left > 0; ) {
      const piece = Buffer.allocUnsafe(Math.min(left, readBytesMax));
      const read = readSync(descriptor, piece, 0, piece.length, null);
      if (read === 0) throw new FileRefusal('conflict', `${traits.path} became shorter while it was read`);
      left -= read;
      yield piece.subarray(0, read);
    }
    yield new Uint8Array(tarPadding(size));
  } finally {
    closeSync(descriptor);
  }
}

/** Undefined for an entry that vanished, was replaced by a link, or may not be read. */
const unlessGone = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};
