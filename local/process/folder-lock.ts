/**
 * The lock of a folder: a file that names the process using it.
 *
 * It is linked into place complete, so no reader sees half of it. A lock whose process has ended is taken over. The number of a
 * process means nothing in another container, on another machine and after another boot: the holder of a data folder renews its
 * lock, and a lock from elsewhere is taken over once it is silent.
 */
import {
  existsSync,
  linkSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRunning, startOf } from '../../sandbox-task/process-identity.ts';

export type FolderLock = { readonly release: () => void };

export class FolderInUse extends Error {
  constructor(folder: string, { pid }: Holder, isHere: boolean) {
    const elsewhere = isHere ? '' : ' of another container or machine';
    super(`${folder} is in use by process ${pid}${elsewhere}: stop it, or name another folder with --dir`);
    this.name = 'FolderInUse';
  }
}

type Holder = {
  readonly pid: number;
  readonly startedAt: string;
  /** Where its number means something; absent without /proc. */
  readonly place?: string | undefined;
};

/** A lock as it was at one time: a holder that lives changes it. */
type Found = { readonly holder: Holder; readonly sign: string };

const takeoversMax = 5;

/** A lock from elsewhere counts as held, unless it is still as it was `silent`. */
export const lockFolder = (folder: string, silent?: string): FolderLock => {
  const lock = join(folder, 'lock');
  const draft = join(folder, `lock.${process.pid}`);
  const own = JSON.stringify({ pid: process.pid, startedAt: startOf(process.pid), place: placeHere() });
  writeFileSync(draft, own);
  try {
    for (let attempt = 0; attempt < takeoversMax; attempt += 1) {
      if (tryLink(draft, lock)) return { release: () => release(lock, own) };
      const found = find(lock);
      if (found !== undefined && isHeld(found, silent))
        throw new FolderInUse(folder, found.holder, isHere(found.holder));
      takeOver(lock, folder, silent);
    }
    throw new Error(`${folder} could not be locked: its lock keeps changing`);
  } finally {
    rmSync(draft, { force: true });
  }
};

type LockOptions = {
  /** Gets a line before it waits. */
  readonly progress: (line: string) => void;
  readonly times?: { readonly renewMs: number; readonly watchMs: number };
};

const timesDefault = { renewMs: 5000, watchMs: 20_000 };
const lookMs = 100;

export const lockDataFolder = async (
  folder: string,
  { progress, times = timesDefault }: LockOptions,
): Promise<FolderLock> => {
  const path = join(folder, 'lock');
  const found = find(path);
  const silent = found === undefined || isHere(found.holder) ? undefined : found;
  if (silent !== undefined) {
    progress(
      `${folder} was locked by process ${silent.holder.pid} of another container, machine or boot: waiting up to ${times.watchMs / 1000} s for a sign of its life`,
    );
    const until = performance.now() + times.watchMs;
    while (performance.now() < until && find(path)?.sign === silent.sign) await sleep(lookMs);
  }
  const lock = lockFolder(folder, silent?.sign);
  const renewing = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => undefined);
  }, times.renewMs);
  renewing.unref();
  return {
    release: () => {
      clearInterval(renewing);
      lock.release();
    },
  };
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
const takeOver = (lock: string, folder: string, silent: string | undefined): void => {
  const aside = join(folder, `lock.stale.${process.pid}`);
  if (!existsSync(lock)) return;
  renameSync(lock, aside);
  const moved = find(aside);
  if (moved !== undefined && isHeld(moved, silent)) tryLink(aside, lock);
  rmSync(aside, { force: true });
};

/** Another process may have taken it over from one that was silent for long. */
const release = (lock: string, own: string): void => {
  if (existsSync(lock) && readFileSync(lock, 'utf8') === own) rmSync(lock, { force: true });
};

const find = (file: string): Found | undefined => {
  try {
    const text = readFileSync(file, 'utf8');
    const { pid, startedAt, place } = JSON.parse(text) as Partial<Holder>;
    const holder = { pid: Number(pid), startedAt: String(startedAt), place };
    return { holder, sign: `${statSync(file).mtimeMs} ${text}` };
  } catch {
    return undefined;
  }
};

const isHeld = ({ holder, sign }: Found, silent: string | undefined): boolean =>
  isHere(holder) ? isRunning(holder.pid, holder.startedAt) : sign !== silent;

/** Without /proc each lock is from elsewhere: nothing tells a process from a later one with its number. */
const isHere = ({ startedAt, place }: Holder): boolean =>
  startedAt !== 'unknown' && (place === undefined || place === placeHere());

/** The boot of the kernel and the namespace of processes: the first namespace has the same name in each boot. */
const placeHere = (): string | undefined => {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return undefined;
  }
};
