/**
 * The lock of a data folder: a file that names the process using it.
 *
 * It is linked into place whole, so nobody reads half of it. A lock whose process is gone is taken over; a
 * process is told apart from a later one with its number by the moment it started, where /proc says so.
 */
import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type HomeLock = { readonly release: () => void };

export class HomeInUse extends Error {
  constructor(home: string, pid: number) {
    super(`${home} is in use by process ${pid}: stop it, or name another folder with --dir`);
    this.name = 'HomeInUse';
  }
}

type Holder = { readonly pid: number; readonly startedAt: string };

const takeoversMax = 5;

export const lockHome = (home: string): HomeLock => {
  const lock = join(home, 'lock');
  const mine = join(home, `lock.${process.pid}`);
  writeFileSync(mine, JSON.stringify(describe(process.pid)));
  try {
    for (let attempt = 0; attempt < takeoversMax; attempt += 1) {
      if (tryLink(mine, lock)) return { release: () => rmSync(lock, { force: true }) };
      const holder = read(lock);
      if (holder !== undefined && isRunning(holder)) throw new HomeInUse(home, holder.pid);
      takeOver(lock, home);
    }
    throw new Error(`${home} could not be locked: its lock changes all the time`);
  } finally {
    rmSync(mine, { force: true });
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

/** Moves the stale lock aside; if somebody else has just made a fresh one, that is put back. */
const takeOver = (lock: string, home: string): void => {
  const aside = join(home, `lock.stale.${process.pid}`);
  if (!existsSync(lock)) return;
  renameSync(lock, aside);
  const moved = read(aside);
  if (moved !== undefined && isRunning(moved)) tryLink(aside, lock);
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

const isRunning = ({ pid, startedAt }: Holder): boolean =>
  exists(pid) && describe(pid).startedAt === startedAt;

const exists = (pid: number): boolean => {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** Field 22 of /proc/pid/stat, counted after the name in parentheses, which may hold anything. */
const describe = (pid: number): Holder => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { pid, startedAt: fields[0] === 'Z' ? 'ended' : String(fields[19]) };
  } catch {
    return { pid, startedAt: 'unknown' };
  }
};
