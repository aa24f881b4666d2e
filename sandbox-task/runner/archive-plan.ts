/**
 * The check of an archive before anything of it is written: names, kinds, places and bounds of all entries.
 *
 * Refused are an entry that is named outside the folder or lies behind a link, a device or FIFO, a hard link to anything but
 * an earlier file of the archive, an entry that would replace a folder by something else or the reverse, and an archive
 * that unpacks to more than a workspace may have.
 */
import { lstatSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { isPlainPath, workspaceBytesMax, workspaceEntriesMax } from '#shared/domain/checkpoint.ts';
import type { TarHeader, TarPart } from './tar-reader.ts';
import { FileRefusal } from './workspace-path.ts';

export type PlannedEntry = { readonly path: string; readonly mode: number; readonly mtimeMs: number } & (
  | { readonly type: 'file'; readonly size: number }
  | { readonly type: 'directory' }
  | { readonly type: 'symlink'; readonly target: string }
  /** `target`: an entry of the archive. */
  | { readonly type: 'hard-link'; readonly target: string }
);

/** The kernel takes no longer path, with the folder in front. */
const pathBytesMax = 4000;
const stepBytesMax = 255;
/** A name and a target of each entry may be long, and archives may have a few headers for all. */
const longHeadersMax = 3 * workspaceEntriesMax;

/** Undefined for the folder itself, which is there already. */
export const plannedEntry = (header: TarHeader): PlannedEntry | undefined => {
  const path = plainPath(header.name);
  if (path === '') return undefined;
  const entry = { path, mode: header.mode & 0o777, mtimeMs: header.mtimeMs };
  switch (header.kind) {
    case '0':
    case '7':
      return { ...entry, type: 'file', size: header.size };
    case '1':
      return { ...entry, type: 'hard-link', target: plainPath(header.linkName) };
    case '2':
      return { ...entry, type: 'symlink', target: targetOf(header) };
    case '5':
      return { ...entry, type: 'directory' };
    default:
      throw new FileRefusal('invalid_request', `${named(path)} in the archive is no file, folder or link`);
  }
};

/** Relative to the folder, without `./` in front and a slash at its end. */
const plainPath = (name: string): string => {
  const path = name
    .split('/')
    .filter((step, at, steps) => step !== '.' && !(step === '' && at === steps.length - 1))
    .join('/');
  if (path !== '' && !isPlainPath(path)) throw outside(name);
  const isTooLong =
    Buffer.byteLength(path) > pathBytesMax ||
    path.split('/').some((step) => Buffer.byteLength(step) > stepBytesMax);
  if (isTooLong) throw new FileRefusal('invalid_request', 'the path of an entry in the archive is too long');
  return path;
};

const targetOf = ({ name, linkName }: TarHeader): string => {
  if (linkName !== '' && Buffer.byteLength(linkName) <= pathBytesMax && !linkName.includes('\0'))
    return linkName;
  throw new FileRefusal(
    'invalid_request',
    `the link ${named(name)} in the archive has no target that can be`,
  );
};

/** Throws at the first entry that may not be. */
export async function* checkEntries(folder: string, parts: AsyncIterable<TarPart>): AsyncGenerator<void> {
  const plan = createPlan(folder);
  for await (const part of parts) {
    yield;
    if ('header' in part) plan.add(plannedEntry(part.header));
    else if ('long' in part) plan.addLong();
  }
}

const createPlan = (folder: string) => {
  const planned = new Map<string, PlannedEntry>();
  const ways = createWays(planned, createLook(folder));
  let entries = 0;
  let longs = 0;
  let bytes = 0;
  return {
    add(entry: PlannedEntry | undefined): void {
      entries += 1 + (entry === undefined ? 0 : ways.check(entry));
      if (entries > workspaceEntriesMax) throw tooLarge(`more than ${workspaceEntriesMax} entries`);
      if (entry === undefined) return;
      bytes += bytesOf(entry, planned);
      if (bytes > workspaceBytesMax) throw tooLarge(`more than ${workspaceBytesMax} bytes`);
      planned.set(entry.path, entry);
    },
    addLong(): void {
      longs += 1;
      if (longs > longHeadersMax) throw tooLarge(`more than ${longHeadersMax} headers of long names`);
    },
  };
};

/** A hard link costs nothing here, and as much as its file once it is saved. */
const bytesOf = (entry: PlannedEntry, planned: ReadonlyMap<string, PlannedEntry>): number => {
  if (entry.type === 'file') return entry.size;
  if (entry.type !== 'hard-link') return 0;
  const target = planned.get(entry.target);
  if (target?.type === 'file') return target.size;
  if (target?.type === 'hard-link') return bytesOf(target, planned);
  throw new FileRefusal(
    'invalid_request',
    `the hard link ${named(entry.path)} names no earlier file of the archive`,
  );
};

type Look = (path: string) => Stats | undefined;

/** The entries of the folder before anything is unpacked, remembered. */
const createLook = (folder: string): Look => {
  const known = new Map<string, Stats | undefined>();
  return (path) => {
    if (!known.has(path)) known.set(path, lookAt(join(folder, path)));
    return known.get(path);
  };
};

const lookAt = (path: string): Stats | undefined => {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw cause;
  }
};

type Ways = {
  /** Throws when the entry cannot be there; else the number of folders that it implies. */
  readonly check: (entry: PlannedEntry) => number;
};

const createWays = (planned: ReadonlyMap<string, PlannedEntry>, onDisk: Look): Ways => {
  /** Ways that were checked, so that a deep one costs each of its folders once. */
  const folders = new Set(['.']);
  const checkFolder = (path: string, below: string): boolean => {
    const ours = planned.get(path);
    const old = onDisk(path);
    if (ours?.type === 'symlink' || old?.isSymbolicLink()) throw outside(below, 'lies behind a link');
    const isFolder = ours === undefined ? (old?.isDirectory() ?? true) : ours.type === 'directory';
    if (!isFolder) throw new FileRefusal('conflict', `${named(path)} is not a folder`);
    return ours === undefined && old === undefined;
  };
  return {
    check(entry) {
      let implied = 0;
      for (let above = dirname(entry.path); !folders.has(above); above = dirname(above)) {
        if (checkFolder(above, entry.path)) implied += 1;
        folders.add(above);
      }
      const ours = folders.has(entry.path) ? 'directory' : planned.get(entry.path)?.type;
      checkPlace(entry, ours, onDisk(entry.path));
      return implied;
    },
  };
};

const checkPlace = (
  entry: PlannedEntry,
  ours: PlannedEntry['type'] | undefined,
  old: Stats | undefined,
): void => {
  const isFolder = entry.type === 'directory';
  if (ours !== undefined && (ours === 'directory') !== isFolder)
    throw new FileRefusal('invalid_request', `${named(entry.path)} is in the archive as two things`);
  if (old !== undefined && old.isDirectory() !== isFolder)
    throw new FileRefusal(
      'conflict',
      `${named(entry.path)} is there already, and is ${isFolder ? 'no' : 'a'} folder`,
    );
};

const named = (path: string): string => JSON.stringify(path);

const outside = (path: string, why = 'is named outside the folder'): FileRefusal =>
  new FileRefusal('path_outside_workspace', `${named(path)} in the archive ${why}`);

const tooLarge = (what: string): FileRefusal =>
  new FileRefusal('resource_limit_exceeded', `the archive unpacks to ${what}`);
