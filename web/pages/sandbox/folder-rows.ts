/** Rows of the open folders of a workspace, folders first. Pure. */
import type { FileEntry } from '#sdk/routes.ts';

export type Folders = ReadonlyMap<string, readonly FileEntry[]>;

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
