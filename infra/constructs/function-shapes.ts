/**
 * How each function runs: for how long, with how much memory, and what becomes of a call nobody waits for.
 *
 * A function that is not in the table does not compile. Those that are called and not waited for end, when their
 * tries are used up, in a queue; who calls the others sees for itself.
 */
import { Duration } from 'aws-cdk-lib';
import { RecursiveLoop } from 'aws-cdk-lib/aws-lambda';
import type { FunctionName } from '#shared/config/environment.ts';
import type { HouseFunctionProps } from './house-function.ts';
import { checkMemoryMib, checkTimeout } from './synthetic-check.ts';

export type Shape = Pick<
  HouseFunctionProps<FunctionName>,
  'timeout' | 'memoryMib' | 'recursiveLoop' | 'retryAttempts' | 'maxEventAge'
> & {
  /** Which queue its lost calls end in; absent: nobody calls it without waiting. */
  readonly lost?: 'turns' | 'events';
};

/** The longest a function may run. */
const longest = Duration.minutes(15);
/** API Gateway gives up after 29 s. */
const socketTimeout = Duration.seconds(29);
const short = Duration.seconds(30);
const sweepTimeout = Duration.minutes(5);
/** By then the sweeps have found what a lost wake-up was about. */
const janitorAgeMax = Duration.hours(6);
const aMinute = Duration.minutes(1);
/** The turn holds a history; the link hashes and uploads what it carries. Processor time comes with memory. */
const largeMib = 1024;
/** Of a function that waits most of its time. */
const waitingMib = 256;
/** Longer than it begins attempts for (`senderRunMs`), and one attempt. */
const senderTimeout = Duration.minutes(3);

const retried = { retryAttempts: 2, lost: 'events' } as const;

export const shapes: Readonly<Record<FunctionName, Shape>> = {
  authorizer: { timeout: short },
  socket: { timeout: socketTimeout },
  // A greeting is of no use to a connection that has waited longer.
  greeter: { ...retried, timeout: short, maxEventAge: aMinute },
  // A turn hands over to itself before its time is up; it counts its own hops.
  turn: {
    timeout: longest,
    memoryMib: largeMib,
    recursiveLoop: RecursiveLoop.ALLOW,
    retryAttempts: 2,
    lost: 'turns',
  },
  'sandbox-link': { timeout: longest, memoryMib: largeMib },
  'task-events': { ...retried, timeout: short },
  janitor: { ...retried, timeout: sweepTimeout, maxEventAge: janitorAgeMax },
  schedules: { ...retried, timeout: sweepTimeout },
  // It waits for receivers and for short pauses; the sweep takes over the rest.
  webhooks: { ...retried, timeout: senderTimeout, memoryMib: waitingMib, maxEventAge: janitorAgeMax },
  api: { timeout: longest },
  mcp: { timeout: longest },
  // The next check is the retry, and a late one is of no use: silence is what is noticed.
  synthetic: { timeout: checkTimeout, memoryMib: checkMemoryMib, retryAttempts: 0, maxEventAge: aMinute },
};
