/**
 * The host users of sandboxes: as root, each has a user of its own, and a group for the volumes that they share.
 *
 * Each start claims a block of user ids that no other instance on this machine has: by a lock in a folder that
 * only root may write, and only where no process runs as one of them. Without root every sandbox runs as
 * the user of this process.
 */
import { randomInt } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HomeInUse, type HomeLock, lockHome } from '../home-lock.ts';

/** Ids no other program of the machine has: 4000 blocks of 10,000. */
const firstUid = 1_761_000_000;
const blockUids = 10_000;
const blocks = 4000;
/** Owns the shared volume; each sandbox has it instead of a group of its own when there is one. */
export const sharedGid = 1_760_999_999;
const claimsFolder = '/run/sallyport-users';

export type Identity = { readonly uid: number; readonly gid: number };

export type Identities = {
  /** One that no living sandbox has; undefined without root. */
  readonly take: (isSharing: boolean) => Identity | undefined;
  readonly giveBack: (identity: Identity | undefined) => void;
  /** Once no sandbox is left. */
  readonly release: () => void;
};

/** Every sandbox runs as the user of this process, or as its container says. */
export const noIdentities: Identities = {
  take: () => undefined,
  giveBack: () => undefined,
  release: () => undefined,
};

type ClaimOptions = {
  /** Where the search starts; a number drawn by lot keeps containers apart that share a kernel and no files. */
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

/** In a folder that another user may write, that user could take our ids. */
const openClaims = (folder: string): void => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  const { uid, mode } = found;
  const isSafe = found.isDirectory() && uid === 0 && (mode & 0o022) === 0;
  if (!isSafe) throw new Error(`${folder} must be a folder that only root may write`);
};

const tryBlock = (folder: string, block: number): HomeLock | undefined => {
  const claim = join(folder, String(block));
  mkdirSync(claim, { recursive: true, mode: 0o700 });
  try {
    return lockHome(claim);
  } catch (cause) {
    if (cause instanceof HomeInUse) return undefined;
    throw cause;
  }
};

const identitiesOf = (block: number, lock: HomeLock): Identities => {
  const taken = new Set<number>();
  let last = -1;
  return {
    take: (isSharing) => {
      if (taken.size >= blockUids) throw new Error(`all ${blockUids} user ids of sandboxes are taken`);
      do last = (last + 1) % blockUids;
      while (taken.has(last));
      taken.add(last);
      const uid = firstUid + block * blockUids + last;
      return { uid, gid: isSharing ? sharedGid : uid };
    },
    giveBack: (identity) => {
      if (identity !== undefined) taken.delete(identity.uid - firstUid - block * blockUids);
    },
    release: () => lock.release(),
  };
};

/** Of all processes: what a killed instance left may live for a moment. */
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
