/**
 * Files of a session's workspace over the REST API: list, read, write whole or in parts, move, delete; folders made and
 * downloaded; and the tree of its opened folders, read on opening and on refresh.
 *
 * The API has no versions: size and time of a file are compared before a write to detect concurrent changes.
 */
import { type Ref, type ShallowRef, shallowRef } from 'vue';
import { SallyportError } from '#sdk/errors.ts';
import type { FileEntry } from '#sdk/routes.ts';
import type { FileStat, SandboxFiles } from '#sdk/sandbox-files.ts';
import { withFiles } from '../../api/request.ts';

/** Size of one request, and the step of the progress. */
const partBytesMax = 2 * 1024 * 1024;

/** Size and time of a file when it was read. */
export type Version = Pick<FileEntry, 'size' | 'modifiedAt'>;

/** `isCut`: the folder has more entries than these. */
export type FolderList = { readonly entries: readonly FileEntry[]; readonly isCut: boolean };

/** `''` is the workspace root. Starts the sandbox when none runs. */
export const listFolder = (sessionId: string, path: string): Promise<FolderList> =>
  withFiles(sessionId, async (files) => {
    let isCut = false;
    const onTruncated = (): void => {
      isCut = true;
    };
    const entries = await files.list(path === '' ? '.' : path, { onTruncated });
    return { entries, isCut };
  });

export const readFile = async (
  sessionId: string,
  path: string,
  signal?: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> => {
  const content = await streamed(sessionId, (files) => files.read(path, { format: 'stream', signal }));
  return new Uint8Array(await content.arrayBuffer());
};

export const removeFile = (sessionId: string, path: string): Promise<void> =>
  withFiles(sessionId, (files) => files.remove(path));

/** Undefined for a missing file. */
export const versionOf = (sessionId: string, path: string): Promise<Version | undefined> =>
  orMissing(findIn(sessionId, parentOf(path), nameOf(path)));

const orMissing = async <T>(asked: Promise<T>): Promise<T | undefined> => {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof SallyportError && error.code === 'file_not_found') return undefined;
    throw error;
  }
};

/** Looked for in the list of its folder: to ask for a file that is not there is an error, which only a cut list is worth. */
const findIn = async (sessionId: string, folder: string, name: string): Promise<Version | undefined> => {
  const { entries, isCut } = await listFolder(sessionId, folder);
  const found = entries.find((entry) => entry.name === name);
  return found !== undefined || !isCut ? found : statOf(sessionId, joined(folder, name));
};

const statOf = (sessionId: string, path: string): Promise<FileStat> =>
  withFiles(sessionId, (files) => files.stat(path));

/** The types of what is at these paths. Walks down from the root, so that a missing folder is never requested, and lists each folder once. */
export const typesAt = async (
  sessionId: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const lists = new Map<string, FolderList>();
  const typeAt = async (path: string): Promise<string | undefined> => {
    const folder = parentOf(path);
    const above = folder === '' ? 'directory' : await typeAt(folder);
    if (above === undefined || above === 'file') return undefined;
    const list = lists.get(folder) ?? (await listFolder(sessionId, folder));
    lists.set(folder, list);
    const found = list.entries.find(({ name }) => name === nameOf(path));
    if (found !== undefined || !list.isCut) return found?.type;
    return (await orMissing(statOf(sessionId, path)))?.type;
  };
  const types = new Map<string, string>();
  for (const path of paths) {
    const type = await typeAt(path);
    if (type !== undefined) types.set(path, type);
  }
  return types;
};

export const isSameVersion = (one: Version | undefined, other: Version | undefined): boolean =>
  one?.modifiedAt === other?.modifiedAt && one?.size === other?.size;

export type Upload = {
  readonly path: string;
  readonly content: Blob;
  readonly onProgress?: (sentBytes: number) => void;
  readonly signal?: AbortSignal;
};

export const writeFile = (sessionId: string, { path, content, onProgress, signal }: Upload): Promise<void> =>
  withFiles(sessionId, (files) =>
    files.write(path, content, {
      signal,
      partBytes: partBytesMax,
      ...(onProgress === undefined ? {} : { onProgress }),
    }),
  );

export const makeFolder = (sessionId: string, path: string): Promise<void> =>
  withFiles(sessionId, (files) => files.mkdir(path));

/** Refused when the new name is taken. */
export const moveEntry = (sessionId: string, path: string, to: string): Promise<void> =>
  withFiles(sessionId, (files) => files.move(path, to));

/** Downloads through the page, because its own address carries no token. */
export const downloadFile = async (sessionId: string, path: string): Promise<void> =>
  saveAs(new Blob([await readFile(sessionId, path)]), nameOf(path));

/** As an archive (tar.gz). */
export const downloadFolder = async (sessionId: string, path: string): Promise<void> =>
  saveAs(
    await streamed(sessionId, (files) => files.download(path, { format: 'stream' })),
    `${nameOf(path)}.tar.gz`,
  );

const streamed = (
  sessionId: string,
  open: (files: SandboxFiles) => Promise<ReadableStream<Uint8Array>>,
): Promise<Blob> =>
  withFiles(sessionId, async (files) => {
    const body = new Response((await open(files)) as BodyInit);
    return body.blob().catch((cause: unknown) => {
      throw brokenOff(cause);
    });
  });

/** A browser does not tell why the body of an answer ended early. */
const brokenOff = (cause: unknown): SallyportError =>
  new SallyportError(
    0,
    {
      code: 'connection_lost',
      message: 'The download broke off before its end.',
      suggestions: [
        'Check your connection, and that the server is running.',
        'A file that is written while it is read breaks off, too: then try again.',
      ],
    },
    { cause },
  );

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** Offers a content as a download. */
export const saveAs = (content: Blob, name: string): void => {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads the object URL some time after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
};

export type Folders = ReadonlyMap<string, FolderList>;

export type WorkspaceTree = {
  readonly folders: ShallowRef<Folders>;
  readonly open: ShallowRef<ReadonlySet<string>>;
  readonly error: ShallowRef<unknown>;
  readonly isReading: Ref<boolean>;
  readonly toggle: (path: string, isOpen?: boolean) => Promise<void>;
  /** Reads every open folder again and closes deleted ones. */
  readonly refresh: () => Promise<void>;
  /** Closes a folder that is gone, with those below it, so that none is read again. */
  readonly forget: (path: string) => void;
  /** Opens and reads the parent folders of a file. */
  readonly reveal: (path: string) => Promise<void>;
};

export const useWorkspaceTree = (sessionId: () => string): WorkspaceTree => {
  const folders = shallowRef<Folders>(new Map());
  const open = shallowRef<ReadonlySet<string>>(new Set());
  const error = shallowRef<unknown>();
  const isReading = shallowRef(false);

  /** The newest read of each folder: an answer that an older one waited longer for does not count. */
  const newest = new Map<string, object>();
  const read = async (paths: readonly string[]): Promise<void> => {
    const id = sessionId();
    const mine = {};
    for (const path of paths) newest.set(path, mine);
    isReading.value = true;
    try {
      const lists = await Promise.all(paths.map(async (path) => [path, await listed(id, path)] as const));
      if (id !== sessionId()) return;
      const next = new Map(folders.value);
      for (const [path, entries] of lists) {
        if (newest.get(path) !== mine) continue;
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
  const forget = (gone: string): void => {
    const isKept = (path: string): boolean => path !== gone && !path.startsWith(`${gone}/`);
    open.value = new Set([...open.value].filter(isKept));
    folders.value = new Map([...folders.value].filter(([path]) => isKept(path)));
  };
  return {
    folders,
    open,
    error,
    isReading,
    toggle,
    forget,
    refresh: () => read(['', ...open.value]),
    reveal,
  };
};

/** Undefined for an unreadable folder; an unreadable root throws. */
const listed = async (id: string, path: string): Promise<FolderList | undefined> => {
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
  (folders.get(folder)?.entries ?? []).toSorted(foldersFirst).flatMap((entry) => {
    const path = joined(folder, entry.name);
    const isFolder = entry.type === 'directory';
    const isOpen = isFolder && open.has(path);
    const row = { path, name: entry.name, entry, level: path.split('/').length, isFolder, isOpen };
    return isOpen ? [row, ...rowsOf(folders, open, path)] : [row];
  });

/** The open folders of which only the first entries are shown, with their number. */
export const cutFolders = (
  folders: Folders,
  open: ReadonlySet<string>,
): readonly { readonly path: string; readonly shown: number }[] =>
  [...folders].flatMap(([path, { entries, isCut }]) =>
    isCut && (path === '' || open.has(path)) ? [{ path, shown: entries.length }] : [],
  );

const foldersFirst = (one: FileEntry, other: FileEntry): number =>
  Number(other.type === 'directory') - Number(one.type === 'directory') ||
  one.name.localeCompare(other.name, 'en', { numeric: true });
