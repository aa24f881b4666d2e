/** File tree of a workspace: its opened folders, read on opening and on refresh, and their rows, folders first. */
import { type Ref, type ShallowRef, shallowRef } from 'vue';
import type { FileEntry } from '#sdk/routes.ts';
import { listFolder } from './workspace-files.ts';

export type Folders = ReadonlyMap<string, readonly FileEntry[]>;

export type WorkspaceTree = {
  readonly folders: ShallowRef<Folders>;
  readonly open: ShallowRef<ReadonlySet<string>>;
  readonly error: ShallowRef<unknown>;
  readonly isReading: Ref<boolean>;
  readonly toggle: (path: string, isOpen?: boolean) => Promise<void>;
  /** Reads every open folder again and closes deleted ones. */
  readonly refresh: () => Promise<void>;
  /** Opens and reads the parent folders of a file. */
  readonly reveal: (path: string) => Promise<void>;
};

export const useWorkspaceTree = (sessionId: () => string): WorkspaceTree => {
  const folders = shallowRef<Folders>(new Map());
  const open = shallowRef<ReadonlySet<string>>(new Set());
  const error = shallowRef<unknown>();
  const isReading = shallowRef(false);

  const read = async (paths: readonly string[]): Promise<void> => {
    const id = sessionId();
    isReading.value = true;
    try {
      const lists = await Promise.all(paths.map(async (path) => [path, await listed(id, path)] as const));
      if (id !== sessionId()) return;
      const next = new Map(folders.value);
      for (const [path, entries] of lists) {
        if (entries === undefined) next.delete(path);
        else next.set(path, entries);
      }
      folders.value = next;
      error.value = undefined;
    } catch (problem) {
      error.value = problem;
    } finally {
      isReading.value = false;
    }
  };

  const toggle = async (path: string, isOpen = !open.value.has(path)): Promise<void> => {
    const next = new Set(open.value);
    if (isOpen) next.add(path);
    else next.delete(path);
    open.value = next;
    if (isOpen) await read([path]);
  };
  const reveal = async (path: string): Promise<void> => {
    const above: string[] = [];
    for (let folder = parentOf(path); folder !== ''; folder = parentOf(folder)) above.push(folder);
    open.value = new Set([...open.value, ...above]);
    await read(['', ...open.value]);
  };
  return { folders, open, error, isReading, toggle, refresh: () => read(['', ...open.value]), reveal };
};

/** Undefined for an unreadable folder; an unreadable root throws. */
const listed = async (id: string, path: string): Promise<readonly FileEntry[] | undefined> => {
  try {
    return await listFolder(id, path);
  } catch (problem) {
    if (path === '') throw problem;
    return undefined;
  }
};

export type FolderRow = {
  readonly path: string;
  readonly name: string;
  readonly entry: FileEntry;
  /** From 1. */
  readonly level: number;
  readonly isFolder: boolean;
  readonly isOpen: boolean;
};

export const joined = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`);

export const parentOf = (path: string): string => path.slice(0, Math.max(path.lastIndexOf('/'), 0));

export const rowsOf = (folders: Folders, open: ReadonlySet<string>, folder = ''): readonly FolderRow[] =>
  (folders.get(folder) ?? []).toSorted(foldersFirst).flatMap((entry) => {
    const path = joined(folder, entry.name);
    const isFolder = entry.type === 'directory';
    const isOpen = isFolder && open.has(path);
    const row = { path, name: entry.name, entry, level: path.split('/').length, isFolder, isOpen };
    return isOpen ? [row, ...rowsOf(folders, open, path)] : [row];
  });

const foldersFirst = (one: FileEntry, other: FileEntry): number =>
  Number(other.type === 'directory') - Number(one.type === 'directory') ||
  one.name.localeCompare(other.name, 'en', { numeric: true });
