/**
 * The host users of sandboxes. As root each sandbox has its own user, and a group for the volumes that they share.
 *
 * Each start claims a block of user ids that no other instance on this machine has: by a lock in a folder that only
 * root may write, and only where no process runs as one of them. Without root every sandbox runs as the user of this
 * process.
 */
import { randomInt } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FolderInUse, type FolderLock, lockFolder } from '../process/folder-lock.ts';

/** Ids that no other program of the machine uses: 4000 blocks of 10,000. */
const firstUid = 1_761_000_000;
const blockUids = 10_000;
const blocks = 4000;
/** The group of the shared volume, and of each sandbox when there is one. */
export const sharedGid = 1_760_999_999;
const claimsFolder = '/run/sallyport-users';

export type Identity = { readonly uid: number; readonly gid: number };

export type Identities = {
  /** Returns one that no running sandbox has; undefined without root. */
  readonly acquire: (isSharing: boolean) => Identity | undefined;
  readonly release: (identity: Identity | undefined) => void;
  /** Releases the claimed block, once no sandbox is left. */
  readonly close: () => void;
};

/** Every sandbox runs as the user of this process, or as the user of its container. */
export const noIdentities: Identities = {
  acquire: () => undefined,
  release: () => undefined,
  close: () => undefined,
};

type ClaimOptions = {
  /** The start of the search. A random number separates containers that share a kernel and no files. */
  readonly firstBlock?: number;
  readonly folder?: string;
};

export const claimIdentities = ({
  firstBlock = randomInt(blocks),
  folder = claimsFolder,
}: ClaimOptions = {}): Identities => {
  if (process.getuid?.() !== 0) return noIdentities;
  openClaims(folder);
  const uidsInUse = livingUids();
  for (let tried = 0; tried < blocks; tried += 1) {
    const block = (firstBlock + tried) % blocks;
    const lock = tryBlock(folder, block);
    if (lock === undefined) continue;
    if (!uidsInUse.some((uid) => blockOf(uid) === block)) return identitiesOf(block, lock);
    lock.release();
  }
  throw new Error(`no block of user ids is free in ${folder}`);
};

const blockOf = (uid: number): number => Math.floor((uid - firstUid) / blockUids);

/** Refuses a folder that another user may write, since that user could claim our ids. */
const openClaims = (folder: string): void => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const entry = lstatSync(folder);
  const { uid, mode } = entry;
  const isSafe = entry.isDirectory() && uid === 0 && (mode & 0o022) === 0;
  if (!isSafe) throw new Error(`${folder} must be a folder that only root may write`);
};

const tryBlock = (folder: string, block: number): FolderLock | undefined => {
  const claim = join(folder, String(block));
  mkdirSync(claim, { recursive: true, mode: 0o700 });
  try {
    return lockFolder(claim);
  } catch (cause) {
    if (cause instanceof FolderInUse) return undefined;
    throw cause;
  }
};

const identitiesOf = (block: number, lock: FolderLock): Identities => {
  const inUse = new Set<number>();
  let last = -1;
  return {
    acquire: (isSharing) => {
      if (inUse.size >= blockUids) throw new Error(`all ${blockUids} user ids of sandboxes are in use`);
      do last = (last + 1) % blockUids;
      while (inUse.has(last));
      inUse.add(last);
      const uid = firstUid + block * blockUids + last;
      return { uid, gid: isSharing ? sharedGid : uid };
    },
    release: (identity) => {
      if (identity !== undefined) inUse.delete(identity.uid - firstUid - block * blockUids);
    },
    close: () => lock.release(),
  };
};

/** Those of all processes: sandboxes of a killed instance may live on for a moment. */
const livingUids = (): readonly number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => Number(/^Uid:\s+(\d+)/m.exec(readStatus(pid))?.[1] ?? 0));

const readStatus = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/status`, 'latin1');
  } catch {
    // It has ended.
    return '';
  }
};

export const asIdentity = ({ uid, gid }: Identity): readonly string[] => [
  'setpriv',
  `--reuid=${uid}`,
  `--regid=${gid}`,
  '--clear-groups',
];
