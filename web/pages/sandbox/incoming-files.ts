/** Files that a person chose or dropped, with their paths. Dropped folders are walked up to a maximum of files. */

export type Incoming = { readonly path: string; readonly file: File };

export const incomingFilesMax = 500;

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
