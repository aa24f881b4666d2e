/**
 * A folder as the archive of a package: the same files give the same bytes, on every machine and on every day.
 *
 * A lock file of npm or pip holds the hash of an archive, so neither times nor owners are in it.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { encodeTarHeader, tarEnd, tarPadding } from '#shared/contracts/tar.ts';
import { filesBelow } from '../../local/web-build.ts';

/** `prefix` is the folder that the files have in the archive. */
export const archiveOf = async (folder: string, prefix: string): Promise<Buffer> => {
  const parts: Uint8Array[] = [];
  for (const path of (await filesBelow(folder)).toSorted()) {
    const bytes = await readFile(join(folder, path));
    const entry = { path: `${prefix}/${path}`, mode: 0o644, mtimeMs: 0, size: bytes.length };
    parts.push(encodeTarHeader({ ...entry, type: 'file' }), bytes, new Uint8Array(tarPadding(bytes.length)));
  }
  return gzipSync(Buffer.concat([...parts, tarEnd()]));
};
