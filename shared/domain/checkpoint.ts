/**
 * Checkpoints: what is saved of a workspace, within which bounds, and what a restore reports about itself.
 *
 * A checkpoint is a manifest (every path with its hash) over packs of file contents; only what changed since the
 * base is written again. The manifest's own hash stands in the workspace's record, so that nothing in the bucket
 * is trusted merely because it is there.
 */
import type { TurnId, WorkspaceId } from './ids.ts';

/** A larger workspace is not saved, and the client is told. */
export const workspaceBytesMax = 2 * 1024 * 1_048_576;
export const workspaceEntriesMax = 50_000;
/** Of a saved file, the end of the year 9999: a later time has no form in ISO 8601 that every reader takes. */
export const mtimeMsMax = 253_402_300_799_999;

/**
 * Entries of a shared volume: each is an object, and so a request at every start. Its bytes have a workspace's
 * bound.
 */
export const sharedEntriesMax = 10_000;

/** A larger file of the shared volume is not held in memory while it is stored. */
export const wholeFileBytesMax = 8 * 1024 * 1024;

/** An entry has one name: relative, without empty steps, `.`, `..` and NUL. It lies under its root unless a link is in between. */
export const isPlainPath = (path: string): boolean =>
  !path.includes('\0') && path.split('/').every((step) => step !== '' && step !== '.' && step !== '..');

/** The age up to which a saved checkpoint suffices while a call or a turn goes on, in milliseconds. */
export const checkpointEveryMs = 60_000;

/** The name of a manifest in the bucket, and the hash it must have. */
export type ManifestRef = {
  readonly id: string;
  /** SHA-256 of the manifest's bytes, in hexadecimal. */
  readonly sha256: string;
  /** The workspace that owns it; absent: the one it is a checkpoint of. A fork begins with the manifest of another. */
  readonly workspace?: WorkspaceId;
};

/** The last checkpoint of a workspace. */
export type Checkpoint = ManifestRef & {
  /** Epoch milliseconds at which the save began: what was written after that may not be in it. */
  readonly savedAt: number;
  /** The sandbox it was taken from. */
  readonly generation: number;
  readonly files: number;
  readonly bytes: number;
  /** The packs that its manifest points into: `<id>` of the manifest's workspace, `<workspace>/<id>` of another. */
  readonly packs: readonly string[];
  /** The turn that took it. */
  readonly turn?: TurnId;
  /** The first of the checkpoints before it that have the same files: what came since wrote their contents anew, or other times. */
  readonly sameAs?: string;
};

/** The same of two checkpoints of a workspace: no file has changed between them. */
export const filesIdOf = ({ id, sameAs = id }: Pick<Checkpoint, 'id' | 'sameAs'>): string => sameAs;

/** The reference alone: a call to the link needs no more of a checkpoint. */
export const refOf = ({ id, sha256, workspace }: ManifestRef): ManifestRef => ({
  id,
  sha256,
  ...(workspace === undefined ? {} : { workspace }),
});

export type ManifestEntry =
  | { readonly type: 'directory'; readonly path: string; readonly mode: number }
  | { readonly type: 'symlink'; readonly path: string; readonly target: string }
  | {
      readonly type: 'file';
      readonly path: string;
      readonly mode: number;
      readonly mtimeMs: number;
      readonly size: number;
      readonly sha256: string;
      /**
       * The position of the content: a pack of the same workspace, or of another (`<workspace>/<id>`), and the first
       * byte in it. An empty file is in none ('').
       */
      readonly pack: string;
      readonly offset: number;
    };

export type Manifest = {
  readonly version: 1;
  readonly id: string;
  readonly workspace: string;
  readonly entries: readonly ManifestEntry[];
  /** Every pack an entry points into, with its whole length in bytes. */
  readonly packs: Readonly<Record<string, number>>;
  /** Objects of the base that this manifest no longer needs: the next save deletes them, once this one stands in the table. */
  readonly obsolete: readonly string[];
};

/** A file that a checkpoint left out: sockets, devices, names that are no text. */
export type LeftOut = { readonly path: string; readonly reason: string };

/** A file that a restore could not bring back. */
export type Missing = { readonly path: string; readonly reason: string };

/** With more packs, or more dead bytes than live ones, the next save writes everything into one new pack. */
const packsMax = 16;

export const isWorthCompacting = ({ entries, packs }: Pick<Manifest, 'entries' | 'packs'>): boolean => {
  const stored = Object.values(packs);
  const storedBytes = stored.reduce((sum, bytes) => sum + bytes, 0);
  const liveBytes = entries.reduce((sum, entry) => sum + (entry.type === 'file' ? entry.size : 0), 0);
  return stored.length > packsMax || storedBytes > 2 * liveBytes + compactionSlackBytes;
};

/** Rewriting less than this saves nothing. */
const compactionSlackBytes = 4 * 1_048_576;

/**
 * True when both describe the same files, in any order. The file system may round a restored file's time, so
 * times are compared in whole milliseconds.
 */
export const isUnchanged = (base: readonly ManifestEntry[], now: readonly ManifestEntry[]): boolean => {
  if (base.length !== now.length) return false;
  const known = new Map(base.map((entry) => [entry.path, entry]));
  return now.every((entry) => {
    const before = known.get(entry.path);
    return before !== undefined && isSame(before, entry);
  });
};

const isSame = (a: ManifestEntry, b: ManifestEntry): boolean => {
  if (a.type === 'directory') return b.type === 'directory' && a.mode === b.mode;
  if (a.type === 'symlink') return b.type === 'symlink' && a.target === b.target;
  return b.type === 'file' && a.mode === b.mode && Math.abs(a.mtimeMs - b.mtimeMs) < 1 && isSameContent(a, b);
};

type FileEntry = Extract<ManifestEntry, { type: 'file' }>;

const isSameContent = (a: FileEntry, b: FileEntry): boolean =>
  a.sha256 === b.sha256 && a.size === b.size && a.pack === b.pack && a.offset === b.offset;

/**
 * Entries of a new pack as the base has them, if the base has every one of them: a file that was touched, or was
 * too young to be called unchanged, needs no second copy. If one is new, the pack is needed anyway and all stay:
 * the older packs become obsolete sooner.
 */
export const withoutCopies = (
  base: readonly ManifestEntry[],
  now: readonly ManifestEntry[],
  pack: string,
): readonly ManifestEntry[] => {
  const known = new Map(base.map((entry) => [entry.path, entry]));
  const reused = now.map((entry) => {
    if (entry.type !== 'file' || entry.pack !== pack) return entry;
    const before = known.get(entry.path);
    if (before?.type !== 'file' || before.sha256 !== entry.sha256 || before.size !== entry.size)
      return undefined;
    return { ...entry, pack: before.pack, offset: before.offset };
  });
  return reused.every((entry) => entry !== undefined) ? reused : now;
};
