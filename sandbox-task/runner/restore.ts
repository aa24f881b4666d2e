/**
 * The restore: archive frames as files, folders and links under the workspace; a frame may also remove an entry.
 *
 * A file is written to a partial beside its place and gets its name only when its hash is the one that was
 * promised; otherwise it is missing, with a reason, and the old entry stays. One bad entry does not
 * stop the others. Folders get their modes at the end, since a read-only one could not be filled: one that is there and closed to its
 * owner is opened until then.
 * Guarantee W10 of docs/spec/sandbox.md.
 */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import type { ArchiveHeader } from '#shared/contracts/archive.ts';
import { createFrameReader } from '../wire/frame.ts';
import type { MissingEntry } from '../wire/messages.ts';
import { createFileIndex, type FileIndex, traitsOf } from './file-index.ts';
import { createRestorePaths, openingWay, openRestoredFile, type RestoredFile } from './restored-entry.ts';
import { codeOf, isPartial, partialOf } from './workspace-path.ts';

export type RunningRestore = {
  readonly write: (bytes: Buffer) => void;
  /** Undefined when the archive had no end. */
  readonly finish: () => RestoreOutcome | undefined;
};
type RestoreOutcome = {
  readonly files: number;
  readonly missing: readonly MissingEntry[];
  readonly index: FileIndex;
};

/** The list of what is missing must fit into one frame of the pipe. */
const missingBytesMax = 4 * 1_048_576;

export const openRestore = (workspace: string): RunningRestore => {
  const paths = createRestorePaths(workspace);
  const missing = createMissingList();
  const index = createFileIndex();
  const folderModes = new Map<string, number>();
  /** Folders and links. */
  const plainPaths = new Map<string, string>();
  let file: RestoredFile | undefined;
  let files = 0;
  let isEnded = false;

  const attempt = (path: string, work: () => void): void => {
    try {
      work();
    } catch (cause) {
      missing.add(path, reasonOf(cause));
    }
  };
  const place = (path: string, work: () => void): void =>
    attempt(path, () => openingWay({ workspace, path, modes: folderModes }, work));
  const finishFile = (isWhole: boolean): void => {
    const finished = file;
    file = undefined;
    if (finished === undefined) return;
    attempt(finished.path, () => {
      index.add(finished.path, finished.finish(isWhole));
      files += 1;
    });
  };
  const write = (header: ArchiveHeader, payload: Buffer): void => {
    switch (header.type) {
      case 'directory':
        place(header.path, () => {
          const target = paths.resolveRestorePath(header.path);
          makeFolder(target, header.mode);
          folderModes.set(target, header.mode);
          plainPaths.set(header.path, target);
        });
        return;
      case 'symlink':
        place(header.path, () => {
          const target = paths.resolveRestorePath(header.path);
          makeLink(target, header.target);
          plainPaths.set(header.path, target);
        });
        paths.forget();
        return;
      case 'file':
        if (header.same) missing.add(header.path, 'the archive does not hold its content');
        else
          place(header.path, () => (file = openRestoredFile(header, paths.resolveRestorePath(header.path))));
        return;
      case 'data':
        file?.write(payload);
        return;
      case 'file-end':
        finishFile(header.isWhole);
        return;
      case 'removed':
        place(header.path, () => {
          const target = paths.resolveRemovedPath(header.path);
          if (target === undefined) return;
          removeEntry(target);
          // A later entry may get its path, or a link that of a folder above: neither gets its mode.
          folderModes.delete(target);
        });
        paths.forget();
        return;
      case 'end':
        isEnded = true;
    }
  };
  const read = createFrameReader(({ header, payload }) => write(header as ArchiveHeader, payload));
  return {
    write: read,
    finish() {
      finishFile(false);
      setFolderModes(folderModes);
      for (const [path, target] of plainPaths) addToIndex(index, path, target);
      return isEnded ? { files, missing: missing.list(), index } : undefined;
    },
  };
};

/** One that is gone already is no failure; a folder that has something else in it stays. */
const removeEntry = (target: string): void => {
  const old = lstatSync(target, { throwIfNoEntry: false });
  if (old?.isDirectory()) removeFolder(target);
  else if (old !== undefined) unlinkSync(target);
};

/** No saved state has partials: that of an upload which never ended does not keep its folder. */
const removeFolder = (target: string): void => {
  try {
    rmdirSync(target);
  } catch (cause) {
    if (codeOf(cause) !== 'ENOTEMPTY') throw cause;
    const names = readdirSync(target);
    if (!names.every(isPartial)) throw cause;
    chmodSync(target, 0o700);
    for (const name of names) unlinkSync(join(target, name));
    rmdirSync(target);
  }
};

/** Writable until everything is in it. */
export const makeFolder = (target: string, mode: number): void => {
  const old = lstatSync(target, { throwIfNoEntry: false });
  if (old?.isDirectory()) {
    chmodSync(target, mode | 0o700);
    return;
  }
  if (old !== undefined) unlinkSync(target);
  mkdirSync(target, mode | 0o700);
};

export const makeLink = (path: string, target: string): void => {
  const partial = partialOf(path);
  if (lstatSync(partial, { throwIfNoEntry: false }) !== undefined) unlinkSync(partial);
  symlinkSync(target, partial);
  try {
    renameSync(partial, path);
  } catch (cause) {
    unlinkSync(partial);
    throw cause;
  }
};

/** Read at the end: a folder has its own mode only then, and a later entry may have replaced it. */
const addToIndex = (index: FileIndex, path: string, target: string): void => {
  const stat = lstatSync(target, { throwIfNoEntry: false, bigint: true });
  if (stat !== undefined) index.add(path, traitsOf(stat));
};

/** Inner folders first: an outer one may lose the right to enter it. */
export const setFolderModes = (modes: ReadonlyMap<string, number>): void => {
  for (const [target, mode] of [...modes].toSorted(([one], [other]) => (one < other ? 1 : -1))) {
    if (lstatSync(target, { throwIfNoEntry: false })?.isDirectory()) chmodSync(target, mode);
  }
};

const createMissingList = () => {
  const entries: MissingEntry[] = [];
  let bytes = 0;
  let more = 0;
  return {
    add(path: string, reason: string): void {
      const entry = { path, reason };
      bytes += Buffer.byteLength(JSON.stringify(entry));
      if (bytes > missingBytesMax) more += 1;
      else entries.push(entry);
    },
    list: (): readonly MissingEntry[] =>
      more === 0 ? entries : [...entries, { path: '', reason: `and ${more} more entries` }],
  };
};

/** The message of the file system without its paths: `EISDIR: illegal operation on a directory`. */
const reasonOf = (cause: unknown): string =>
  cause instanceof Error ? (cause.message.split(', ')[0] ?? '') : String(cause);
