/**
 * The walk through the workspace: every entry once, with its stat, no link followed.
 *
 * It reads names one by one and holds only the folders still to be visited, so that a folder of a million
 * names costs time and not memory. An entry that cannot be named or read is reported, not skipped.
 */
import { isUtf8 } from 'node:buffer';
import { type BigIntStats, lstatSync, opendirSync } from 'node:fs';
import { join } from 'node:path';
import { isPartial } from './workspace-path.ts';

export type Walked =
  | { readonly path: string; readonly stat: BigIntStats }
  | { readonly path: string; readonly reason: string };

/** Folders precede their content. */
export function* walkWorkspace(root: string): Generator<Walked> {
  const pending = [''];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const entry of walkFolder(root, folder)) {
      yield entry;
      if ('stat' in entry && entry.stat.isDirectory()) pending.push(entry.path);
    }
  }
}

function* walkFolder(root: string, folder: string): Generator<Walked> {
  try {
    using names = opendirSync(join(root, folder), { encoding: 'latin1', bufferSize: 256 });
    for (let name = names.readSync(); name !== null; name = names.readSync()) {
      const walked = isPartial(name.name)
        ? undefined
        : describe(root, folder, Buffer.from(name.name, 'latin1'));
      if (walked !== undefined) yield walked;
    }
  } catch (cause) {
    if (isEnded(cause)) return;
    yield { path: folder, reason: `its content cannot be read: ${codeOf(cause)}` };
  }
}

const describe = (root: string, folder: string, name: Buffer): Walked | undefined => {
  const path = folder === '' ? name.toString() : `${folder}/${name.toString()}`;
  if (!isUtf8(name)) return { path, reason: 'its name is not valid UTF-8' };
  if (Buffer.byteLength(path) > pathBytesMax) return { path, reason: 'its path is too long' };
  try {
    return { path, stat: lstatSync(join(root, path), { bigint: true }) };
  } catch (cause) {
    return isEnded(cause) ? undefined : { path, reason: codeOf(cause) };
  }
};

/** Less than the kernel's PATH_MAX with the root in front; what is deeper cannot be opened by its path anyway. */
const pathBytesMax = 4000;

const isEnded = (cause: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(codeOf(cause));
export const codeOf = (cause: unknown): string => (cause as NodeJS.ErrnoException).code ?? 'EIO';
