/**
 * A bucket with Object Lock: it keeps every version, and no one removes a version before its time without the header that bypasses
 * governance. A removal without a version writes a delete marker, which hides the object and loses nothing.
 *
 * Governance by the default retention of the bucket alone: compliance, legal holds and retentions of single objects are refused by name.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-lock.html
 */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openNameSync, replaceFile } from '../endpoint/durable-files.ts';
import { oneByOne } from '../endpoint/file-steps.ts';
import { AwsError } from '../endpoint/http-messages.ts';
import { type Bucket, type ObjectRecord, openBucket } from './bucket.ts';

export type ObjectVersion = {
  readonly key: string;
  readonly versionId: string;
  readonly isMarker: boolean;
  readonly record: ObjectRecord;
};

export type Lock = {
  /** Of the objects that are written from now on; undefined: they are not locked. */
  readonly days: () => number | undefined;
  readonly setDays: (days: number) => Promise<void>;
  /** Of a key the newest first, in the order of the keys. */
  readonly versions: () => readonly ObjectVersion[];
  readonly removeVersion: (key: string, versionId: string, bypasses: boolean) => Promise<void>;
};

export type LockedBucket = Bucket & { readonly lock: Lock };

const dayMs = 86_400_000;
const lockFile = 'object-lock.json';
export const versionHeader = 'x-amz-version-id';
const untilHeader = 'x-amz-object-lock-retain-until-date';
const markerHeader = 'x-amz-delete-marker';

/** Undefined for a bucket without Object Lock. */
export const readLock = async (folder: string): Promise<{ readonly days?: number } | undefined> => {
  const text = await readFile(join(folder, lockFile), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : JSON.parse(text);
};

export const writeLock = async (folder: string, lock: { readonly days?: number }): Promise<void> => {
  await replaceFile(join(folder, lockFile), JSON.stringify(lock));
  await openNameSync(folder)();
};

export const openLockedBucket = async (folder: string): Promise<LockedBucket> => {
  const stored = await openBucket(folder);
  let days = (await readLock(folder))?.days;
  let count = Math.max(0, ...stored.keys().map((name) => placeOf(name)));
  const versions = (): readonly ObjectVersion[] =>
    stored
      .keys()
      .map((name) => versionOf(stored.find(name) as ObjectRecord))
      .toSorted((one, other) => compare(one, other));
  const newest = (key: string): ObjectVersion | undefined => {
    const [found] = versions().filter((version) => version.key === key);
    return found?.isMarker === true ? undefined : found;
  };
  const inTurn = oneByOne();
  const draft: Bucket['draft'] = async () => {
    const made = await stored.draft();
    return {
      ...made,
      commit: (record, check) =>
        inTurn(record.key, async () => {
          check?.(newest(record.key)?.record);
          count += 1;
          const headers = { ...record.headers, ...lockHeaders(days), [versionHeader]: randomUUID() };
          await made.commit({ ...record, key: `${record.key}\n${count}`, headers });
        }),
    };
  };
  return {
    ...stored,
    draft,
    find: (key) => newest(key)?.record,
    read: async (key) => {
      const record = newest(key)?.record;
      const found = record === undefined ? undefined : await stored.read(record.key);
      return found && { ...found, record: { ...found.record, key } };
    },
    remove: async (key) => {
      const { handle: _, commit } = await draft();
      await commit({ key, size: 0, etag: '', headers: { [markerHeader]: 'true' } });
    },
    keys: () => [...new Set(versions().map(({ key }) => key))].filter((key) => newest(key) !== undefined),
    lock: {
      days: () => days,
      setDays: async (wanted) => {
        days = wanted;
        await writeLock(folder, { days });
      },
      versions,
      removeVersion: async (key, versionId, bypasses) => {
        const found = versions().find((one) => one.key === key && one.versionId === versionId);
        if (found === undefined) return;
        if (isLocked(found) && !bypasses)
          throw new AwsError(403, 'AccessDenied', 'Access Denied because object protected by object lock.');
        await stored.remove(found.record.key);
      },
    },
  };
};

const placeOf = (name: string): number => Number(name.slice(name.lastIndexOf('\n') + 1));

const versionOf = (record: ObjectRecord): ObjectVersion => ({
  key: record.key.slice(0, record.key.lastIndexOf('\n')),
  versionId: record.headers[versionHeader] ?? '',
  isMarker: markerHeader in record.headers,
  record,
});

const compare = (one: ObjectVersion, other: ObjectVersion): number =>
  Buffer.compare(Buffer.from(one.key), Buffer.from(other.key)) ||
  placeOf(other.record.key) - placeOf(one.record.key);

const lockHeaders = (days: number | undefined): Record<string, string> =>
  days === undefined
    ? {}
    : {
        'x-amz-object-lock-mode': 'GOVERNANCE',
        [untilHeader]: new Date(Date.now() + days * dayMs).toISOString(),
      };

/** A delete marker is never locked. */
const isLocked = ({ isMarker, record }: ObjectVersion): boolean =>
  !isMarker && Date.parse(record.headers[untilHeader] ?? '') > Date.now();
