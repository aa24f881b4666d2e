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
type Listed = { readonly Versions?: readonly { readonly LastModified: string }[] };

const dayMs = 86_400_000;
const daysOfYear = 365;

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

/** By the default retention of the bucket, from the newest write on; undefined: nothing is locked. */
const lockedUntil = async (aws: Aws, bucket: string): Promise<number | undefined> => {
  const none = ['ObjectLockConfigurationNotFoundError', 'NoSuchBucket'];
  const named = ['--bucket', bucket] as const;
  const lock = await aws.find<Configuration>(none, 's3api', 'get-object-lock-configuration', ...named);
  const retention = lock?.ObjectLockConfiguration.Rule?.DefaultRetention;
  const days = retention?.Days ?? (retention?.Years ?? 0) * daysOfYear;
  if (days === 0) return undefined;
  const page = await aws.find<Listed>(none, 's3api', 'list-object-versions', ...named);
  const written = (page?.Versions ?? []).map(({ LastModified }) => Date.parse(LastModified));
  return written.length === 0 ? undefined : Math.max(...written) + days * dayMs;
};

/** The lines of a destroy about one. */
export const textOfLocked = ({ bucket, until }: LockedBucket, stage: string): readonly string[] => [
  `bucket ${bucket} with the seals of the audit log, locked until ${until} (Object Lock, governance)`,
  `  npm run destroy${stage} deletes it after that; sooner with --bypass-lock, by a person who has s3:BypassGovernanceRetention`,
];
