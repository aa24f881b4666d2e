/**
 * A restored entry: its path, through real folders of the workspace only, and its file, a partial until its hash is right.
 *
 * Each folder on the way is checked, so a link from the archive or from user code is never followed; missing folders are
 * made. A disk that fails during the writing makes the file missing at its end, not before, because the rest of its content
 * arrives anyway. Guarantee W10 of docs/spec/sandbox.md.
 */
import { createHash } from 'node:crypto';
import {
  type BigIntStats,
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  futimesSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { isPlainPath } from '#shared/domain/checkpoint.ts';
import type { FileHeader } from './archive-frames.ts';
import { codeOf, partialOf } from './workspace-path.ts';

export type RestoredFile = {
  readonly path: string;
  readonly write: (bytes: Buffer) => void;
  /** Gives it its name, or throws the reason why not; never leaves the partial behind. */
  readonly finish: (isWhole: boolean) => BigIntStats;
};

export const openRestoredFile = (header: FileHeader, target: string): RestoredFile => {
  const partial = partialOf(target);
  const descriptor = openSync(
    partial,
    constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    0o600,
  );
  const hash = createHash('sha256');
  let failure: Error | undefined;
  const name = (isWhole: boolean): BigIntStats => {
    if (failure !== undefined) throw failure;
    if (!isWhole) throw new Error('its content is not whole');
    if (hash.digest('hex') !== header.sha256) throw new Error('its content differs from what was saved');
    fchmodSync(descriptor, header.mode);
    const modifiedAt = (header.mtimeMs + halfMicrosecondMs) / 1000;
    futimesSync(descriptor, modifiedAt, modifiedAt);
    renameSync(partial, target);
    return lstatSync(target, { bigint: true });
  };
  return {
    path: header.path,
    write(bytes) {
      hash.update(bytes);
      try {
        writeAll(descriptor, bytes);
      } catch (cause) {
        failure ??= cause as Error;
      }
    },
    finish(isWhole) {
      try {
        return name(isWhole);
      } catch (cause) {
        rmSync(partial, { force: true });
        throw cause;
      } finally {
        closeSync(descriptor);
      }
    },
  };
};

/** A double of seconds is a fraction of a microsecond off: without this, times would lose one at each restore. */
const halfMicrosecondMs = 0.0005;

const writeAll = (descriptor: number, bytes: Buffer): void => {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(descriptor, bytes, done, bytes.length - done);
  }
};

type RestorePaths = {
  /** Throws with the reason why an entry cannot be there. */
  readonly resolveRestorePath: (path: string) => string;
  /** Makes no folder. Undefined if a folder on the way is gone or is no longer a folder: the entry is gone with it. */
  readonly resolveRemovedPath: (path: string) => string | undefined;
  /** Something other than a folder was made: what was known about the path no longer holds. */
  readonly forget: () => void;
};

export const createRestorePaths = (workspace: string): RestorePaths => {
  /** Neighbours come one after another: mostly the way is the last one. */
  let known: string | undefined;
  return {
    resolveRestorePath(path) {
      requirePlain(path);
      const parent = dirname(path);
      if (parent !== known) {
        walk(workspace, parent);
        known = parent;
      }
      return join(workspace, path);
    },
    resolveRemovedPath(path) {
      requirePlain(path);
      return hasWay(workspace, dirname(path)) ? join(workspace, path) : undefined;
    },
    forget() {
      known = undefined;
    },
  };
};

const requirePlain = (path: string): void => {
  if (!isPlainPath(path)) throw new Error('its path is not one of the workspace');
};

const stepsTo = (parent: string): readonly string[] => (parent === '.' ? [] : parent.split('/'));

/** Step by step: no link on the way is followed. */
const hasWay = (workspace: string, parent: string): boolean => {
  let target = workspace;
  for (const step of stepsTo(parent)) {
    target = join(target, step);
    if (!lstatSync(target, { throwIfNoEntry: false })?.isDirectory()) return false;
  }
  return true;
};

const walk = (workspace: string, parent: string): void => {
  let target = workspace;
  for (const step of stepsTo(parent)) {
    target = join(target, step);
    const stat = lstatSync(target, { throwIfNoEntry: false });
    if (stat === undefined) mkdirSync(target);
    else if (!stat.isDirectory()) throw new Error('its folder is not a folder');
  }
};

type Way = {
  readonly workspace: string;
  readonly path: string;
  /** Of folders, as they are to be at the end. */
  readonly modes: Map<string, number>;
};

/** Does the work once more where a folder on the way to the entry is closed to its owner: it is open from then on. */
export const openingWay = (way: Way, work: () => void): void => {
  try {
    work();
  } catch (cause) {
    if (codeOf(cause) !== 'EACCES') throw cause;
    openWay(way);
    work();
  }
};

const openWay = ({ workspace, path, modes }: Way): void => {
  let folder = workspace;
  for (const step of ['', ...dirname(path).split('/')]) {
    folder = join(folder, step);
    const stat = lstatSync(folder, { throwIfNoEntry: false });
    if (!stat?.isDirectory()) return;
    const mode = stat.mode & 0o7777;
    if ((mode & 0o700) === 0o700) continue;
    chmodSync(folder, mode | 0o700);
    if (!modes.has(folder)) modes.set(folder, mode);
  }
};
