/**
 * Uploads to a workspace: one file at a time, each with its progress; a failed upload does not stop the others.
 *
 * A file above the limit is refused before it is sent. Dropped folders are walked up to a maximum number of files.
 */
import { type ShallowRef, shallowRef } from 'vue';
import { byteSize } from '../../components/format.ts';
import { uploadBytesMax, writeFile } from './workspace-files.ts';
import { joined } from './workspace-tree.ts';

export type Incoming = { readonly path: string; readonly file: File };

export const incomingFilesMax = 500;

export type UploadRow = {
  readonly path: string;
  readonly size: number;
  readonly sent: number;
  readonly state: 'waiting' | 'sending' | 'done' | 'failed';
  readonly problem: string;
};

export type Uploads = {
  readonly rows: ShallowRef<readonly UploadRow[]>;
  readonly add: (sessionId: string, folder: string, files: readonly Incoming[]) => Promise<void>;
  readonly clear: () => void;
};

export const useUploads = (): Uploads => {
  const rows = shallowRef<readonly UploadRow[]>([]);
  const change = (path: string, changed: Partial<UploadRow>): void => {
    rows.value = rows.value.map((row) => (row.path === path ? { ...row, ...changed } : row));
  };
  const sendOne = async (sessionId: string, path: string, file: File): Promise<void> => {
    change(path, { state: 'sending' });
    try {
      await writeFile(sessionId, { path, content: file, onProgress: (sent) => change(path, { sent }) });
      change(path, { state: 'done' });
    } catch (error) {
      change(path, { state: 'failed', problem: error instanceof Error ? error.message : String(error) });
    }
  };
  const add: Uploads['add'] = async (sessionId, folder, files) => {
    const incoming = files
      .slice(0, incomingFilesMax)
      .map(({ path, file }) => ({ path: joined(folder, path), file }));
    const fresh = incoming.map(({ path, file }) => newRow(path, file));
    rows.value = [...rows.value.filter(({ path }) => !incoming.some((one) => one.path === path)), ...fresh];
    for (const { path, file } of incoming)
      if (file.size <= uploadBytesMax) await sendOne(sessionId, path, file);
  };
  return {
    rows,
    add,
    clear: () => {
      rows.value = rows.value.filter(({ state }) => state === 'waiting' || state === 'sending');
    },
  };
};

const newRow = (path: string, { size }: File): UploadRow => {
  const isTooLarge = size > uploadBytesMax;
  return {
    path,
    size,
    sent: 0,
    state: isTooLarge ? 'failed' : 'waiting',
    problem: isTooLarge ? `The limit is ${byteSize(uploadBytesMax)}.` : '',
  };
};

export const chosenFiles = (list: FileList | null): readonly Incoming[] =>
  [...(list ?? [])].map((file) => ({ path: file.webkitRelativePath || file.name, file }));

/** The entries must be read during the event; their contents are read later. */
export const droppedFiles = async (transfer: DataTransfer): Promise<readonly Incoming[]> => {
  const entries = [...transfer.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  const found: Incoming[] = [];
  for (const entry of entries) await collect(entry, found);
  return found;
};

const collect = async (entry: FileSystemEntry, found: Incoming[]): Promise<void> => {
  if (found.length > incomingFilesMax) return;
  if (isFile(entry)) {
    const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject));
    found.push({ path: entry.fullPath.replace(/^\//, ''), file });
  } else if (isFolder(entry)) for (const below of await entriesOf(entry)) await collect(below, found);
};

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;

/** A browser returns at most a hundred entries at a time. */
const entriesOf = async (folder: FileSystemDirectoryEntry): Promise<readonly FileSystemEntry[]> => {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (some.length === 0) return all;
    all.push(...some);
  }
};
