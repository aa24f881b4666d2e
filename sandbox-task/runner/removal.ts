/**
 * Removing a file, a link or a folder with all it holds; a link is removed, never what it points to.
 *
 * A folder that its owner may not write to would keep its content: it is made writable first.
 */
import { chmod, lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Roots, resolveName } from './workspace-path.ts';

export const removePath = async (roots: Roots, path: string): Promise<void> => {
  const place = await resolveName(roots, path);
  await lstat(place);
  try {
    await rm(place, { recursive: true });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EACCES') throw cause;
    await openFolders(place);
    await rm(place, { recursive: true });
  }
};

const openFolders = async (place: string): Promise<void> => {
  const pending = [place];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    if (!(await lstat(folder)).isDirectory()) continue;
    await chmod(folder, 0o700);
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if (entry.isDirectory()) pending.push(join(folder, entry.name));
    }
  }
};
