/**
 * The folder of running sandboxes: their programs, their workspaces and their sockets.
 *
 * It is outside the data folder, which sandbox users may not enter and whose path may be too long for a socket. There is one
 * per data folder; the leftovers of a killed predecessor are removed. This process locks it for its life: systemd-tmpfiles
 * deletes what was not touched below /tmp for 10 or 30 days, except in a locked folder (tmpfiles.d(5), "Age").
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { statfsSync } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export type RunFolder = {
  /** Of this cloud's containers and control groups, too. */
  readonly name: string;
  readonly folder: string;
  readonly tasks: string;
  readonly programs: string;
  readonly remove: () => Promise<void>;
};

export const makeRunFolder = async (home: string): Promise<RunFolder> => {
  const { name, folder } = runFolderOf(home);
  const remove = () => rm(folder, { recursive: true, force: true });
  await remove();
  await mkdir(folder, { mode: 0o711 });
  const unlock = await lockAgainstCleaning(folder);
  const tasks = join(folder, 'tasks');
  await mkdir(tasks, { mode: 0o711 });
  return {
    ...{ name, folder, tasks, programs: join(folder, 'programs') },
    remove: () => remove().finally(unlock),
  };
};

export const runFolderOf = (home: string): Pick<RunFolder, 'name' | 'folder'> => {
  const name = createHash('sha256').update(resolve(home)).digest('hex').slice(0, 12);
  return { name, folder: join(folderOnDisk(tmpdir()), `sallyport-run-${name}`) };
};

/** Of statfs(2). */
const tmpfs = 0x01021994;

/** Some systems keep /tmp in memory, which workspaces would fill. A folder that a person named is taken as it is. */
export const folderOnDisk = (temporary: string, typeOf = (path: string) => statfsSync(path).type): string =>
  temporary === '/tmp' && typeOf(temporary) === tmpfs ? '/var/tmp' : temporary;

/** The lock belongs to the descriptor, which `flock` shares for a moment. Without that program the folder is not locked. */
const lockAgainstCleaning = async (folder: string): Promise<() => Promise<void>> => {
  const handle = await open(folder);
  const locker = spawn('flock', ['-s', '3'], { stdio: ['ignore', 'ignore', 'ignore', handle.fd] });
  await once(locker, 'exit').catch(() => undefined);
  return () => handle.close();
};
