/**
 * The changes between two manifests of one workspace or of a fork: entries made, modified and removed, and the order in which
 * they are applied. A time alone is no change, and neither is the pack that holds a content.
 */
import type { ManifestEntry } from './checkpoint.ts';
import { type ChangeKind, lossesFirst } from './file-change.ts';

export type EntryChange = {
  readonly path: string;
  readonly change: ChangeKind;
  readonly before?: ManifestEntry;
  readonly after?: ManifestEntry;
};

type Entries = readonly ManifestEntry[];

/** By path. A folder that is made or removed with files in it is not named beside them. */
export const changesBetween = (before: Entries, after: Entries): readonly EntryChange[] => {
  const [was, is] = [byPath(before), byPath(after)];
  const made = after.flatMap((entry): readonly EntryChange[] => {
    const old = was.get(entry.path);
    if (old === undefined) return [{ path: entry.path, change: 'created', after: entry }];
    return isSame(old, entry) ? [] : [{ path: entry.path, change: 'modified', before: old, after: entry }];
  });
  const removed = before
    .filter(({ path }) => !is.has(path))
    .map((entry): EntryChange => ({ path: entry.path, change: 'removed', before: entry }));
  return [...made, ...removed].toSorted((one, other) => (one.path < other.path ? -1 : 1));
};

/** As a person sees them: without folders that follow from the files in them and have usual permissions, removed ones first. */
export const shownChanges = (changes: readonly EntryChange[]): readonly EntryChange[] => {
  const parents = new Set(
    changes.flatMap(({ path, change }) => foldersOf(path).map((at) => `${change} ${at}`)),
  );
  return changes
    .filter((change) => !isPlainFolder(change) || !parents.has(`${change.change} ${change.path}`))
    .toSorted(lossesFirst);
};

const isPlainFolder = ({ change, before, after }: EntryChange): boolean =>
  (after ?? before)?.type === 'directory' &&
  (change === 'removed' || (change === 'created' && after !== undefined && isUsualMode(after)));

const usualModes = { file: 0o644, directory: 0o755 };

export const isUsualMode = (entry: ManifestEntry): boolean =>
  entry.type === 'symlink' || entry.mode === usualModes[entry.type];

const foldersOf = (path: string): readonly string[] => {
  const steps = path.split('/').slice(0, -1);
  return steps.map((_step, index) => steps.slice(0, index + 1).join('/'));
};

/** Entries to delete, each before its folder: also a folder that a file or a link replaces, since neither is put over one. */
export const pathsToRemove = (changes: readonly EntryChange[]): readonly string[] =>
  changes
    .filter((change) => change.change === 'removed' || isReplacedFolder(change))
    .map(({ path }) => path)
    .toSorted((one, other) => (one < other ? 1 : -1));

/**
 * Entries to write: those that changed, and folders above a change that are closed to their owner. An application that was
 * broken off may have left these open.
 */
export const entriesToWrite = (changes: readonly EntryChange[], after: Entries): Entries => {
  const changed = new Set(changes.map(({ path }) => path));
  const above = new Set(changes.flatMap(({ path }) => foldersOf(path)));
  return after.filter((entry) => changed.has(entry.path) || (above.has(entry.path) && isClosed(entry)));
};

const isReplacedFolder = ({ before, after }: EntryChange): boolean =>
  before?.type === 'directory' && after?.type !== 'directory';

const isClosed = (entry: ManifestEntry): boolean =>
  entry.type === 'directory' && (entry.mode & 0o700) !== 0o700;

const byPath = (entries: Entries): ReadonlyMap<string, ManifestEntry> =>
  new Map(entries.map((entry) => [entry.path, entry]));

const isSame = (one: ManifestEntry, other: ManifestEntry): boolean => {
  if (one.type === 'directory') return other.type === 'directory' && one.mode === other.mode;
  if (one.type === 'symlink') return other.type === 'symlink' && one.target === other.target;
  return (
    other.type === 'file' && one.mode === other.mode && one.size === other.size && one.sha256 === other.sha256
  );
};
