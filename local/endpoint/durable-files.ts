/**
 * Files that outlast a loss of power: a caller learns of a write when its bytes and its name are on the disk.
 *
 * A name belongs to its folder, which is synced apart from the file.
 */
import { randomUUID } from 'node:crypto';
import { open, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const ownFile = 0o600;

/** Replaces the file whole. Its bytes are on the disk, its name only after a sync of its folder. */
export const replaceFile = async (path: string, text: string): Promise<void> => {
  const temporary = join(dirname(path), `${randomUUID()}.tmp`);
  const file = await open(temporary, 'wx', ownFile);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
};

export type SyncNames = () => Promise<void>;

/** Syncs the names in a folder, once at a time: callers in the meantime share the next sync, so that many writers at once cost few. */
export const openNameSync = (folder: string): SyncNames => {
  let running = Promise.resolve();
  let next: Promise<void> | undefined;
  const begin = (): Promise<void> => {
    next = undefined;
    running = syncNames(folder);
    return running;
  };
  return () => {
    next ??= running.then(begin, begin);
    return next;
  };
};

const syncNames = async (folder: string): Promise<void> => {
  const handle = await open(folder);
  try {
    await handle.sync().catch(ignoreUnsupported);
  } finally {
    await handle.close();
  }
};

/** Of file systems that know no sync of a folder. */
const ignoreUnsupported = (cause: unknown): void => {
  if ((cause as NodeJS.ErrnoException).code !== 'EINVAL') throw cause;
};
