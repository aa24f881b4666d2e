/**
 * The lock of a folder: a file that names the process using it.
 *
 * It is linked into place complete, so no reader sees half of it. A lock whose process has ended is taken over; the
 * start time of a process tells it from a later one with the same number, where /proc has it.
 */
import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning, startOf } from '../../sandbox-task/process-identity.ts';

export type FolderLock = { readonly release: () => void };

export class FolderInUse extends Error {
  constructor(folder: string, pid: number) {
    super(`${folder} is in use by process ${pid}: stop it, or name another folder with --dir`);
    this.name = 'FolderInUse';
  }
}

type Holder = { readonly pid: number; readonly startedAt: string };

const takeoversMax = 5;

export const lockFolder = (folder: string): FolderLock => {
  const lock = join(folder, 'lock');
  const draft = join(folder, `lock.${process.pid}`);
  writeFileSync(
    draft,
    JSON.stringify({ pid: process.pid, startedAt: startOf(process.pid) } satisfies Holder),
  );
  try {
    for (let attempt = 0; attempt < takeoversMax; attempt += 1) {
      if (tryLink(draft, lock)) return { release: () => rmSync(lock, { force: true }) };
      const holder = read(lock);
      if (holder !== undefined && isRunning(holder.pid, holder.startedAt))
        throw new FolderInUse(folder, holder.pid);
      takeOver(lock, folder);
    }
    throw new Error(`${folder} could not be locked: its lock keeps changing`);
  } finally {
    rmSync(draft, { force: true });
  }
};

const tryLink = (from: string, to: string): boolean => {
  try {
    linkSync(from, to);
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw cause;
  }
};

/** Moves the stale lock aside. If another process has just made a new one, that is restored. */
const takeOver = (lock: string, folder: string): void => {
  const aside = join(folder, `lock.stale.${process.pid}`);
  if (!existsSync(lock)) return;
  renameSync(lock, aside);
  const moved = read(aside);
  if (moved !== undefined && isRunning(moved.pid, moved.startedAt)) tryLink(aside, lock);
  rmSync(aside, { force: true });
};

const read = (file: string): Holder | undefined => {
  try {
    const holder = JSON.parse(readFileSync(file, 'utf8')) as Partial<Holder>;
    return { pid: Number(holder.pid), startedAt: String(holder.startedAt) };
  } catch {
    return undefined;
  }
};
