/**
 * Files of a session's workspace over the REST API: list, read, write whole or in parts, delete; and the tree of its opened
 * folders, read on opening and on refresh.
 *
 * The API has no versions: size and time of a file are compared before a write to detect concurrent changes.
 */
import { type Ref, type ShallowRef, shallowRef } from 'vue';
import { SallyportError } from '#sdk/errors.ts';
import type { FileEntry } from '#sdk/routes.ts';
import { send } from '../../api/request.ts';

/** The first response may wait for a cold start. */
const firstAnswerMs = 150_000;
/** Size of one request, and the step of the progress. */
const partBytesMax = 2 * 1024 * 1024;
export const uploadBytesMax = 2 * 1024 ** 3;

/** Size and time of a file when it was read. */
export type Version = Pick<FileEntry, 'size' | 'modifiedAt'>;

const addressOf = (sessionId: string, path: string): string =>
  `/api/sessions/${sessionId}/files/${path.split('/').map(encodeURIComponent).join('/')}`;

const signalOf = (signal: AbortSignal | undefined) => (signal === undefined ? {} : { signal });

/** `''` is the workspace root. Starts the sandbox when none runs. */
export const listFolder = async (
  sessionId: string,
  path: string,
  signal?: AbortSignal,
): Promise<readonly FileEntry[]> => {
  const query = new URLSearchParams({ path: path === '' ? '.' : path });
  const init = { timeoutMs: firstAnswerMs, ...signalOf(signal) };
  const response = await send(`/api/sessions/${sessionId}/files?${query}`, init);
  const { files } = (await response.json()) as { readonly files: readonly FileEntry[] };
  return files;
};

export const readFile = async (
  sessionId: string,
  path: string,
  signal?: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> => {
  const init = { timeoutMs: firstAnswerMs, ...signalOf(signal) };
  return new Uint8Array(await (await send(addressOf(sessionId, path), init)).arrayBuffer());
};

export const removeFile = async (sessionId: string, path: string): Promise<void> => {
  await send(addressOf(sessionId, path), { method: 'DELETE', timeoutMs: firstAnswerMs });
};

/** Undefined for a missing file. */
export const versionOf = async (sessionId: string, path: string): Promise<Version | undefined> => {
  const cut = path.lastIndexOf('/');
  try {
    const entries = await listFolder(sessionId, path.slice(0, Math.max(cut, 0)));
    return entries.find(({ name }) => name === path.slice(cut + 1));
  } catch (error) {
    if (error instanceof SallyportError && error.code === 'file_not_found') return undefined;
    throw error;
  }
};

/** Walks down from the root, so that a missing folder is never requested. */
export const isThere = async (sessionId: string, path: string): Promise<boolean> => {
  let folder = '';
  for (const name of path.split('/')) {
    const entries = await listFolder(sessionId, folder);
    if (!entries.some((entry) => entry.name === name)) return false;
    folder = folder === '' ? name : `${folder}/${name}`;
  }
  return true;
};

export const isSameVersion = (one: Version | undefined, other: Version | undefined): boolean =>
  one?.modifiedAt === other?.modifiedAt && one?.size === other?.size;

export type Upload = {
  readonly path: string;
  readonly content: Blob;
  readonly onProgress?: (sentBytes: number) => void;
  readonly signal?: AbortSignal;
};

export const writeFile = async (
  sessionId: string,
  { path, content, onProgress = () => {}, signal }: Upload,
): Promise<void> => {
  const put = (body: Blob, headers: Record<string, string> = {}) =>
    send(addressOf(sessionId, path), {
      method: 'PUT',
      body,
      headers: { 'content-type': 'application/octet-stream', ...headers },
      timeoutMs: firstAnswerMs,
      ...signalOf(signal),
    });
  if (content.size <= partBytesMax) {
    await put(content);
    return onProgress(content.size);
  }
  for (let from = 0; from < content.size; from += partBytesMax) {
    const to = Math.min(from + partBytesMax, content.size);
    await put(content.slice(from, to), { 'content-range': `bytes ${from}-${to - 1}/${content.size}` });
    onProgress(to);
  }
};

/** Downloads through the page, because a link cannot carry the token. */
export const downloadFile = async (sessionId: string, path: string): Promise<void> => {
  const url = URL.createObjectURL(new Blob([await readFile(sessionId, path)]));
  const link = document.createElement('a');
  link.href = url;
  link.download = path.slice(path.lastIndexOf('/') + 1);
  link.click();
  // The browser reads the object URL some time after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
};

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
