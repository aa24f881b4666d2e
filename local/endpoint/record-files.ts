/**
 * Records on disk: one JSON file each, for its owner alone, replaced whole, so that a crash leaves the old or the new.
 *
 * File names are hashes, so a record's key never becomes a path. Half-written files are removed when the folder is
 * opened. Changes of one record are made in the order of their calls.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openNameSync, replaceFile } from './durable-files.ts';
import { inPortions, oneByOne } from './file-steps.ts';
import { parseJson } from './http-messages.ts';

export type RecordFiles<T> = {
  /** The records at the time of opening. */
  readonly stored: readonly T[];
  readonly write: (key: string, record: T) => Promise<void>;
  readonly remove: (key: string) => Promise<void>;
};

const ownFolder = 0o700;
const suffix = '.json';

export const openRecordFiles = async <T>(folder: string): Promise<RecordFiles<T>> => {
  await mkdir(folder, { recursive: true, mode: ownFolder });
  const names = await readdir(folder);
  const complete = names.filter((name) => name.endsWith(suffix));
  const halfWritten = names.filter((name) => name.endsWith('.tmp'));
  await Promise.all(halfWritten.map((name) => rm(join(folder, name), { force: true })));
  const pathOf = (key: string): string =>
    join(folder, `${createHash('sha256').update(key).digest('hex')}${suffix}`);
  const inTurn = oneByOne();
  const syncNames = openNameSync(folder);
  return {
    stored: await inPortions(complete, (name) => readOrRefuse<T>(join(folder, name))),
    write: (key, record) =>
      inTurn(key, async () => {
        await replaceFile(pathOf(key), JSON.stringify(record));
        await syncNames();
      }),
    remove: (key) =>
      inTurn(key, async () => {
        await rm(pathOf(key), { force: true });
        await syncNames();
      }),
  };
};

/** The start is refused: nothing here knows what it was. */
const readOrRefuse = async <T>(path: string): Promise<T> => {
  const record = await readRecord<T>(path);
  if (record !== undefined) return record;
  throw new Error(
    `${path} cannot be read: restore the data folder from a backup, or delete this file to go on without what it records`,
  );
};

/** Undefined for a file that holds none: an older version of the program left empty ones when a machine lost its power. */
export const readRecord = async <T>(path: string): Promise<T | undefined> => {
  const record = parseJson(await readFile(path, 'utf8'));
  return typeof record === 'object' && record !== null ? (record as T) : undefined;
};

export type Records<T> = {
  readonly find: (key: string) => T | undefined;
  readonly all: () => readonly T[];
  readonly put: (record: T) => Promise<void>;
  readonly remove: (key: string) => Promise<void>;
};

/**
 * The records in memory, as they are on disk: a change that could not be written did not happen, so that the repeated request
 * makes it.
 */
export const holdRecords = <T>(files: RecordFiles<T>, keyOf: (record: T) => string): Records<T> => {
  const records = new Map(files.stored.map((record) => [keyOf(record), record]));
  const replaceIfStill = (key: string, one: T | undefined, other: T | undefined): void => {
    if (records.get(key) !== one) return;
    if (other === undefined) records.delete(key);
    else records.set(key, other);
  };
  return {
    find: (key) => records.get(key),
    all: () => [...records.values()],
    put: async (record) => {
      const key = keyOf(record);
      const before = records.get(key);
      records.set(key, record);
      await files.write(key, record).catch((cause: unknown) => {
        replaceIfStill(key, record, before);
        throw cause;
      });
    },
    remove: async (key) => {
      const removed = records.get(key);
      await files.remove(key);
      replaceIfStill(key, removed, undefined);
    },
  };
};
