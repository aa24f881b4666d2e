/**
 * Buckets whose Object Lock still keeps objects: a destroy leaves them, and says until when and what removes them.
 *
 * One that is empty, or whose last lock has ended, is deleted as any other.
 */
import type { Aws } from './aws.ts';

export type LockedBucket = {
  readonly bucket: string;
  /** The end of the last lock. */
  readonly until: string;
};

type Configuration = {
  readonly ObjectLockConfiguration: {
    readonly Rule?: { readonly DefaultRetention?: { readonly Days?: number; readonly Years?: number } };
  };
};
type Version = { readonly Key: string; readonly VersionId: string; readonly LastModified: string };
type Listed = { readonly Versions?: readonly Version[] };
type Retained = { readonly Retention: { readonly RetainUntilDate: string } };

const dayMs = 86_400_000;
const daysOfYear = 365;
/** Versions, evenly over their times, whose locks are read: a request each. */
const probesMax = 16;

export const lockedOf = async (
  aws: Aws,
  buckets: readonly string[],
  now: number,
): Promise<readonly LockedBucket[]> => {
  const found: LockedBucket[] = [];
  for (const bucket of buckets) {
    const until = await lockedUntil(aws, bucket);
    if (until !== undefined && until > now) found.push({ bucket, until: new Date(until).toISOString() });
  }
  return found;
};

/**
 * Undefined: nothing is locked. Each version keeps the lock that it was written with: where the setting became smaller, an older one
 * may be locked for longer than the newest.
 */
const lockedUntil = async (aws: Aws, bucket: string): Promise<number | undefined> => {
  const none = ['ObjectLockConfigurationNotFoundError', 'NoSuchBucket'];
  const named = ['--bucket', bucket] as const;
  const lock = await aws.find<Configuration>(none, 's3api', 'get-object-lock-configuration', ...named);
  const retention = lock?.ObjectLockConfiguration.Rule?.DefaultRetention;
  const days = retention?.Days ?? (retention?.Years ?? 0) * daysOfYear;
  if (days === 0) return undefined;
  const page = await aws.find<Listed>(none, 's3api', 'list-object-versions', ...named);
  const versions = (page?.Versions ?? []).toSorted((a, b) => writtenAt(a) - writtenAt(b));
  const newest = versions.at(-1);
  if (newest === undefined) return undefined;
  const last = await lastLock(versions, (version) => lockOf(aws, bucket, version));
  return Math.max(writtenAt(newest) + days * dayMs, last);
};

const writtenAt = ({ LastModified }: Version): number => Date.parse(LastModified);

/** The end of its lock in epoch milliseconds; 0: it has none. */
const lockOf = async (aws: Aws, bucket: string, { Key, VersionId }: Version): Promise<number> => {
  const none = ['NoSuchObjectLockConfiguration', 'NoSuchKey', 'NoSuchVersion'];
  const named = ['--bucket', bucket, '--key', Key, '--version-id', VersionId] as const;
  const found = await aws.find<Retained>(none, 's3api', 'get-object-retention', ...named);
  return found === undefined ? 0 : Date.parse(found.Retention.RetainUntilDate);
};

/** Of versions in the order of their times: those of one setting are locked for the same time, so the last of each counts. */
const lastLock = async (
  versions: readonly Version[],
  untilOf: (version: Version) => Promise<number>,
): Promise<number> => {
  let last = 0;
  const lockMsOf = async (at: number): Promise<number> => {
    const version = versions[at];
    if (version === undefined) return 0;
    const until = await untilOf(version);
    last = Math.max(last, until);
    return until - writtenAt(version);
  };
  const step = Math.max(1, Math.ceil((versions.length - 1) / probesMax));
  let before = { at: 0, lockMs: await lockMsOf(0) };
  while (before.at < versions.length - 1) {
    const next = Math.min(before.at + step, versions.length - 1);
    const after = { at: next, lockMs: await lockMsOf(next) };
    // The setting became smaller between the two: by halving to the last version before.
    let [low, high] = [before.at, after.at];
    while (before.lockMs - after.lockMs > dayMs / 2 && high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (before.lockMs - (await lockMsOf(middle)) > dayMs / 2) high = middle;
      else low = middle;
    }
    before = after;
  }
  return last;
};

/** The lines of a destroy about one. */
export const textOfLocked = ({ bucket, until }: LockedBucket, stage: string): readonly string[] => [
  `bucket ${bucket} with the seals of the audit log, locked until ${until} (Object Lock, governance)`,
  `  npm run destroy${stage} deletes it after that; sooner with --bypass-lock, by a person who has s3:BypassGovernanceRetention`,
];
