/**
 * Waiting for a sandbox on Fargate: a burst against the token bucket of launches, and steady demand against a warm pool.
 *
 * A sandbox that is taken from the pool is replaced by a launch at once. With steady demand the pool is therefore a queue
 * without waiting places, and Erlang's loss formula gives the share of requests that find it empty. The formula holds for any
 * distribution of starting times.
 */
export type Launches = { readonly burst: number; readonly perSecond: number; readonly startSeconds: number };

/** The time until the sandbox number `index` of a burst is there; those of the pool, and their replacements, come first. */
const waitOf = (index: number, pool: number, { burst, perSecond, startSeconds }: Launches): number => {
  if (index < pool) return 0;
  const launchesBefore = index + 1;
  return Math.max(0, launchesBefore - burst) / perSecond + startSeconds;
};

export type Waits = { readonly half: number; readonly most: number; readonly last: number };

export const waitsOfBurst = (sandboxes: number, pool: number, launches: Launches): Waits => {
  const at = (share: number): number => waitOf(Math.ceil(sandboxes * share) - 1, pool, launches);
  return { half: at(0.5), most: at(0.95), last: at(1) };
};

/** Erlang's loss formula, by its recursion, which neither overflows nor divides by zero. */
export const emptyShare = (pool: number, startsPerSecond: number, startSeconds: number): number => {
  const offered = startsPerSecond * startSeconds;
  let share = 1;
  for (let size = 1; size <= pool; size += 1) share = (offered * share) / (size + offered * share);
  return share;
};

const poolMax = 10_000;

/** The smallest pool that at most `share` of the starts meet empty; undefined if launches cannot follow the demand. */
export const poolFor = (
  startsPerSecond: number,
  { perSecond, startSeconds }: Launches,
  share: number,
): number | undefined => {
  if (startsPerSecond > perSecond) return undefined;
  for (let pool = 0; pool <= poolMax; pool += 1)
    if (emptyShare(pool, startsPerSecond, startSeconds) <= share) return pool;
  return undefined;
};
