/** Times of the functions, and how often Lambda tries an asynchronous invocation of each: on AWS and in the embedded cloud. */
import type { FunctionName } from './environment.ts';

export type FunctionLimits = {
  readonly timeoutSeconds: number;
  /** Of an asynchronous invocation that failed; absent: Lambda's own, which are two, or every caller waits for the answer. */
  readonly retriesMax?: number;
  /** An event that is older is tried no more; absent: Lambda's own, six hours. */
  readonly ageSecondsMax?: number;
};

const minute = 60;
const hour = 60 * minute;
/** Lambda's limit. */
const longest = 15 * minute;
/** API Gateway gives up after 29 s. */
const socketTimeout = 29;
const short = 30;
const sweepTimeout = 5 * minute;
/** By then the sweeps have done the work of a lost invocation. */
const janitorAgeMax = 6 * hour;
/** Longer than the time in which it begins attempts (`senderRunMs`), and one attempt. */
const senderTimeout = 3 * minute;
/** Longer than its longest wait, shorter than the time until the next check of its kind. */
const checkTimeout = 5 * minute;

const retried = { retriesMax: 2 } as const;
/**
 * It serves a moment: a late invocation is of no use, and what needs it asks for another. Lambda tries a throttled one again within
 * the minute, and one that failed after a minute, which is too late.
 */
const forAMoment = { retriesMax: 0, ageSecondsMax: minute } as const;
/** Longer than two followers that die at the end of their time, and Lambda's pauses after them: the lease refuses one that is not needed. */
const followerAgeMax = hour;

export const functionLimits: Readonly<Record<FunctionName, FunctionLimits>> = {
  authorizer: { timeoutSeconds: short },
  socket: { timeoutSeconds: socketTimeout },
  // A connection that has waited longer for its greeting has been opened anew.
  'on-connected': { ...forAMoment, timeoutSeconds: short },
  turn: { ...retried, timeoutSeconds: longest },
  terminal: { ...retried, timeoutSeconds: longest, ageSecondsMax: followerAgeMax },
  relay: { ...forAMoment, timeoutSeconds: longest },
  'sandbox-link': { timeoutSeconds: longest },
  'task-events': { ...retried, timeoutSeconds: short },
  janitor: { ...retried, timeoutSeconds: sweepTimeout, ageSecondsMax: janitorAgeMax },
  schedules: { ...retried, timeoutSeconds: sweepTimeout },
  webhooks: { ...retried, timeoutSeconds: senderTimeout, ageSecondsMax: janitorAgeMax },
  api: { timeoutSeconds: longest },
  mcp: { timeoutSeconds: longest },
  // The next check is the retry, and a late one is of no use.
  synthetic: { ...forAMoment, timeoutSeconds: checkTimeout },
};
