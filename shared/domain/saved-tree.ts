/**
 * The files of a checkpoint, as a tree of names: resolves paths in it, following links, and lists folders.
 *
 * It answers as the sandbox would into which the workspace is restored (guarantee W8 of docs/spec/sandbox.md),
 * without one. A folder shared between sandboxes is not part of it.
 */
import type { ManifestEntry } from './checkpoint.ts';
import { utf8Bytes } from './text.ts';

export type SavedFile = Extract<ManifestEntry, { type: 'file' }>;

/** The parts of a saved workspace that are read: a file, one folder, everything below it, the entry itself, a folder as an archive. */
export const savedWants = ['file', 'folder', 'tree', 'stat', 'archive'] as const;
export type SavedWant = (typeof savedWants)[number];

/** `named`: the path from the workspace's own folder, as it was given; links on it are not resolved. */
type SavedEntryLookup =
  | { readonly kind: 'file'; readonly file: SavedFile; readonly named: string }
  /** `entries`: its direct contents, by name; `path`: its own, without links. */
  | {
      readonly kind: 'folder';
      readonly entries: readonly ListedEntry[];
      readonly path: string;
      readonly named: string;
    }
  | SavedRefusal;

type SavedRefusal = {
  readonly kind: 'refused';
  readonly code: 'file_not_found' | 'path_outside_workspace' | 'invalid_request';
  readonly message: string;
};

export type ListedEntry = {
  readonly name: string;
  readonly type: ManifestEntry['type'];
  readonly size: number;
  /** Epoch milliseconds; absent: it was not saved. */
  readonly modifiedAt?: number;
};

/** The path of a workspace in every sandbox. */
const root = '/workspace';
/** The kernel's bound (path_resolution(7)). */
const linksMax = 40;
/** The number of entries that a sandbox lists. */
const listedEntriesMax = 10_000;

type Refuse = (code: SavedRefusal['code'], why: string) => SavedRefusal;

export const savedEntryAt = (entries: readonly ManifestEntry[], path: string): SavedEntryLookup => {
  const refuse: Refuse = (code, why) => ({
    kind: 'refused',
    code,
    message: `${JSON.stringify(path)} ${why}`,
  });
  if (path.includes('\0')) return refuse('invalid_request', 'has a NUL character');
  const known = new Map(entries.map((entry) => [entry.path, entry]));
  const start = stepsFrom([], path);
  const found = start === undefined ? 'outside' : follow(known, start);
  if (found === 'outside') return refuse('path_outside_workspace', 'is outside the workspace');
  if (found === 'endless') return refuse('invalid_request', 'leads through too many symbolic links');
  if (found === 'nowhere') return refuse('file_not_found', 'is no such file');
  const entry = known.get(found);
  const named = start?.join('/') ?? '';
  if (entry?.type === 'file') return { kind: 'file', file: entry, named };
  return { kind: 'folder', entries: within(entries, found), path: found, named };
};

/** The steps of a path from the workspace's own folder, with `..` resolved lexically. Undefined: it leaves. */
const stepsFrom = (folder: readonly string[], path: string): readonly string[] | undefined => {
  const isAbsolute = path.startsWith('/');
  const steps: string[] = isAbsolute ? [] : [...root.split('/').slice(1), ...folder];
  for (const step of path.split('/')) {
    if (step === '..') steps.pop();
    else if (step !== '' && step !== '.') steps.push(step);
  }
  return steps[0] === root.slice(1) ? steps.slice(1) : undefined;
};

type Known = ReadonlyMap<string, ManifestEntry>;

const follow = (known: Known, start: readonly string[]): string | 'outside' | 'endless' | 'nowhere' => {
  let done: readonly string[] = [];
  let left = start;
  for (let links = 0; left.length > 0; ) {
    const [step = '', ...rest] = left;
    const here = [...done, step];
    const entry = known.get(here.join('/'));
    if (entry === undefined || (entry.type === 'file' && rest.length > 0)) return 'nowhere';
    if (entry.type !== 'symlink') {
      done = here;
      left = rest;
      continue;
    }
    links += 1;
    if (links > linksMax) return 'endless';
    const target = stepsFrom(done, entry.target);
    if (target === undefined) return 'outside';
    done = [];
    left = [...target, ...rest];
  }
  return done.join('/');
};

const within = (entries: readonly ManifestEntry[], folder: string): readonly ListedEntry[] => {
  const prefix = folder === '' ? '' : `${folder}/`;
  return entries
    .filter(({ path }) => path.startsWith(prefix) && !path.slice(prefix.length).includes('/'))
    .map((entry) => listed(entry, entry.path.slice(prefix.length)))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .slice(0, listedEntriesMax);
};

/** Everything below a folder with its path from there: a folder before its content, names in order. */
export const savedBelow = (
  entries: readonly ManifestEntry[],
  folder: string,
): readonly { readonly below: string; readonly entry: ManifestEntry }[] => {
  const prefix = folder === '' ? '' : `${folder}/`;
  // The slash sorts before every other character, so that a folder's content follows it.
  const sortKey = (path: string): string => path.replaceAll('/', '\0');
  return entries
    .filter(({ path }) => path.startsWith(prefix))
    .map((entry) => ({ below: entry.path.slice(prefix.length), entry }))
    .toSorted((one, other) => (sortKey(one.below) < sortKey(other.below) ? -1 : 1));
};

export const listed = (entry: ManifestEntry, name: string): ListedEntry => {
  switch (entry.type) {
    case 'file':
      return { name, type: 'file', size: entry.size, modifiedAt: entry.mtimeMs };
    case 'symlink':
      return { name, type: 'symlink', size: utf8Bytes(entry.target) };
    case 'directory':
      return { name, type: 'directory', size: 0 };
  }
};
