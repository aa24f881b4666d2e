/**
 * One bucket on disk: a file of bytes and a small record per object.
 *
 * File names are random, so a key never becomes a path. An object exists once its record has been renamed
 * into place; bytes without a record are left over from a crash and removed when the bucket is opened, and so are
 * half-written records. The index is in memory, since only one process uses the folder; writers of one key take turns,
 * so that it agrees with the files.
 *
 * A writer is answered when its object outlasts a loss of power. An object that is damaged all the same is an error to its
 * readers. One whose bytes are gone from a folder that is there is missing: it never comes back, and its reader says what is lost.
 */
import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { openNameSync, replaceFile, type SyncNames } from '../endpoint/durable-files.ts';
import { inPortions, oneByOne } from '../endpoint/file-steps.ts';
import { readRecord } from '../endpoint/record-files.ts';

export type ObjectRecord = {
  readonly key: string;
  readonly file: string;
  readonly size: number;
  readonly etag: string;
  readonly modifiedAt: number;
  /** Content type, user metadata and checksums, returned as headers. */
  readonly headers: Readonly<Record<string, string>>;
};

/** Throws where the object may not be replaced: nothing comes between it and the write. */
type Check = (existing: ObjectRecord | undefined) => void;

type Draft = {
  /** The file for the bytes, which can be read again; complete when `commit` is called. */
  readonly handle: FileHandle;
  /** Discards the draft if it fails. */
  readonly commit: (record: Omit<ObjectRecord, 'file' | 'modifiedAt'>, check?: Check) => Promise<void>;
  readonly discard: () => Promise<void>;
};

export type Bucket = {
  readonly find: (key: string) => ObjectRecord | undefined;
  /** Opens the bytes of an object. If it is replaced, the handle keeps the old bytes. Throws for a damaged object. */
  readonly read: (
    key: string,
  ) => Promise<{ readonly record: ObjectRecord; readonly handle: FileHandle } | undefined>;
  readonly draft: () => Promise<Draft>;
  readonly remove: (key: string) => Promise<void>;
  /** In the order of their UTF-8 bytes, as S3 lists them. */
  readonly keys: () => readonly string[];
};

const ownFolder = 0o700;

export const openBucket = async (folder: string): Promise<Bucket> => {
  const bytesFolder = join(folder, 'bytes');
  const recordFolder = join(folder, 'records');
  await mkdir(bytesFolder, { recursive: true, mode: ownFolder });
  await mkdir(recordFolder, { recursive: true, mode: ownFolder });
  const { records, torn } = await loadRecords(recordFolder);
  // The bytes of a torn record are among those that no record names.
  if (torn.size === 0)
    await removeLeftovers(bytesFolder, new Set([...records.values()].map(({ file }) => file)));
  let sorted: readonly string[] | undefined;
  const pathOf = (record: Pick<ObjectRecord, 'file'>): string => join(bytesFolder, record.file);

  const inTurn = oneByOne();
  const syncBytes = openNameSync(bytesFolder);
  const syncRecords = openNameSync(recordFolder);
  const put = async (record: ObjectRecord, check: Check | undefined): Promise<void> => {
    check?.(records.get(record.key));
    const name = recordName(record.key);
    await replaceFile(join(recordFolder, name), JSON.stringify(record));
    torn.delete(name);
    const previous = records.get(record.key);
    if (previous === undefined) sorted = undefined;
    records.set(record.key, record);
    await syncRecords();
    if (previous !== undefined) await rm(pathOf(previous), { force: true });
  };

  const remove = async (key: string): Promise<void> => {
    const record = records.get(key);
    const isTorn = torn.delete(recordName(key));
    if (record === undefined && !isTorn) return;
    records.delete(key);
    sorted = undefined;
    await rm(join(recordFolder, recordName(key)), { force: true });
    await syncRecords();
    if (record !== undefined) await rm(pathOf(record), { force: true });
  };

  return {
    find: (key) => records.get(key),
    read: (key) => readWhole({ records, torn, pathOf }, key),
    draft: () => {
      const file = randomUUID();
      return openDraft(pathOf({ file }), {
        syncNames: syncBytes,
        isRecorded: (key) => records.get(key)?.file === file,
        record: (record, check) =>
          inTurn(record.key, () => put({ ...record, file, modifiedAt: Date.now() }, check)),
      });
    },
    remove: (key) => inTurn(key, () => remove(key)),
    keys: () => {
      sorted ??= [...records.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      return sorted;
    },
  };
};

type Index = {
  readonly records: ReadonlyMap<string, ObjectRecord>;
  readonly torn: ReadonlySet<string>;
  readonly pathOf: (record: ObjectRecord) => string;
};

const readWhole = async (index: Index, key: string): ReturnType<Bucket['read']> => {
  const record = index.records.get(key);
  if (record === undefined) {
    if (index.torn.has(recordName(key))) throw new Error(`the record of the object ${key} is torn`);
    return undefined;
  }
  const path = index.pathOf(record);
  const handle = await open(path).catch(async (cause: unknown) => {
    const isThere = index.records.get(key) === record;
    if (isThere && !(isMissing(cause) && (await isFolder(dirname(path))))) throw cause;
    return isThere ? 'gone' : 'moved';
  });
  if (handle === 'gone') return undefined;
  // It has just been replaced or removed.
  if (handle === 'moved') return readWhole(index, key);
  const { size } = await handle.stat();
  if (size === record.size) return { record, handle };
  await handle.close();
  throw new Error(`the object ${key} has ${size} bytes in place of ${record.size}`);
};

const isMissing = (cause: unknown): boolean => (cause as NodeJS.ErrnoException).code === 'ENOENT';

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

type DraftSteps = {
  readonly syncNames: SyncNames;
  readonly record: Draft['commit'];
  /** A record that was renamed into place counts, also where its sync failed. */
  readonly isRecorded: (key: string) => boolean;
};

const openDraft = async (path: string, { syncNames, record, isRecorded }: DraftSteps): Promise<Draft> => {
  const handle = await open(path, 'wx+');
  let key: string | undefined;
  const discard = async (): Promise<void> => {
    await handle.close();
    if (key === undefined || !isRecorded(key)) await rm(path, { force: true });
  };
  return {
    handle,
    commit: async (object, check) => {
      key = object.key;
      try {
        await Promise.all([handle.datasync(), syncNames()]);
        await handle.close();
        await record(object, check);
      } catch (cause) {
        await discard();
        throw cause;
      }
    },
    discard,
  };
};

const recordName = (key: string): string => `${createHash('sha256').update(key).digest('hex')}.json`;

type Loaded = {
  readonly records: Map<string, ObjectRecord>;
  /** The names of records that cannot be read; each gives the hash of its key, and not the key. */
  readonly torn: Set<string>;
};

const loadRecords = async (folder: string): Promise<Loaded> => {
  const names = await readdir(folder);
  const isComplete = (name: string): boolean => name.endsWith('.json');
  for (const name of names) if (!isComplete(name)) await rm(join(folder, name), { force: true });
  const records = new Map<string, ObjectRecord>();
  const torn = new Set<string>();
  await inPortions(names.filter(isComplete), async (name) => {
    const record = await readRecord<ObjectRecord>(join(folder, name));
    if (record === undefined) torn.add(name);
    else records.set(record.key, record);
  });
  for (const name of torn)
    process.stderr.write(
      `s3: ${join(folder, name)} cannot be read: restore the data folder from a backup, or delete this file to go on without its object\n`,
    );
  return { records, torn };
};

const removeLeftovers = async (folder: string, referenced: ReadonlySet<string>): Promise<void> => {
  const names = (await readdir(folder)).filter((name) => !referenced.has(name));
  await Promise.all(names.map((name) => rm(join(folder, name), { force: true })));
};
