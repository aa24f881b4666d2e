/**
 * One bucket on disk: a file of bytes and a small record per object.
 *
 * File names are random, so a key never becomes a path. An object exists once its record has been renamed
 * into place; bytes without a record are left over from a crash and removed when the bucket is opened, and so are
 * half-written records. The index is in memory, since only one process uses the folder; writers of one key take turns,
 * so that it agrees with the files.
 */
import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readJsonFiles } from '../endpoint/record-files.ts';
import { takeTurns } from '../endpoint/turns.ts';

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
  readonly commit: (record: Omit<ObjectRecord, 'file' | 'modifiedAt'>, check?: Check) => Promise<void>;
  readonly discard: () => Promise<void>;
};

export type Bucket = {
  readonly find: (key: string) => ObjectRecord | undefined;
  /** Opens the bytes of an object. If it is replaced, the handle keeps the old bytes. */
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
  const records = await loadRecords(recordFolder);
  await removeLeftovers(bytesFolder, new Set([...records.values()].map(({ file }) => file)));
  let sorted: readonly string[] | undefined;
  const pathOf = (record: Pick<ObjectRecord, 'file'>): string => join(bytesFolder, record.file);

  const inTurn = takeTurns();
  const put = async (record: ObjectRecord, check: Check | undefined): Promise<void> => {
    check?.(records.get(record.key));
    await writeRecord(recordFolder, record);
    const previous = records.get(record.key);
    if (previous === undefined) sorted = undefined;
    records.set(record.key, record);
    if (previous !== undefined) await rm(pathOf(previous), { force: true });
  };

  const remove = async (key: string): Promise<void> => {
    const record = records.get(key);
    if (record === undefined) return;
    records.delete(key);
    sorted = undefined;
    await rm(join(recordFolder, recordName(key)), { force: true });
    await rm(pathOf(record), { force: true });
  };

  return {
    find: (key) => records.get(key),
    read: async (key) => {
      const record = records.get(key);
      if (record === undefined) return undefined;
      return { record, handle: await open(pathOf(record)) };
    },
    draft: async () => {
      const file = randomUUID();
      const handle = await open(pathOf({ file }), 'wx+');
      return {
        handle,
        commit: async (record, check) => {
          await handle.close();
          await inTurn(record.key, () => put({ ...record, file, modifiedAt: Date.now() }, check));
        },
        discard: async () => {
          await handle.close();
          await rm(pathOf({ file }), { force: true });
        },
      };
    },
    remove: (key) => inTurn(key, () => remove(key)),
    keys: () => {
      sorted ??= [...records.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      return sorted;
    },
  };
};

const recordName = (key: string): string => `${createHash('sha256').update(key).digest('hex')}.json`;

const writeRecord = async (folder: string, record: ObjectRecord): Promise<void> => {
  const temporary = join(folder, `${record.file}.tmp`);
  await writeFile(temporary, JSON.stringify(record));
  await rename(temporary, join(folder, recordName(record.key)));
};

const loadRecords = async (folder: string): Promise<Map<string, ObjectRecord>> => {
  const names = await readdir(folder);
  const isComplete = (name: string): boolean => name.endsWith('.json');
  for (const name of names) if (!isComplete(name)) await rm(join(folder, name), { force: true });
  const records = await readJsonFiles<ObjectRecord>(folder, names.filter(isComplete));
  return new Map(records.map((record) => [record.key, record]));
};

const removeLeftovers = async (folder: string, referenced: ReadonlySet<string>): Promise<void> => {
  const names = (await readdir(folder)).filter((name) => !referenced.has(name));
  await Promise.all(names.map((name) => rm(join(folder, name), { force: true })));
};
