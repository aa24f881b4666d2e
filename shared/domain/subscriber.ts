/** A socket of a session as publishers see it: it receives frames once it has been greeted. */
import type { ConnectionId } from './ids.ts';

export type Subscriber = {
  readonly id: ConnectionId;
  /** Epoch milliseconds: until then only its greeter may post to it. Absent: it was greeted. */
  readonly greetBy?: number;
  /** Epoch milliseconds: until then its greeter alone sends it what is logged, also where that has died. */
  readonly joinBy?: number;
};

/** API Gateway ends a connection after two hours. */
export const connectionMsMax = 2 * 3_600_000;

/** Where its greeter has died, a connection takes frames without a greeting after so many milliseconds. */
export const greetMsMax = 30_000;

export const awaitsGreeting = ({ greetBy = 0 }: Subscriber, now: number): boolean => greetBy > now;

/** Publishers pass over it with what is logged: its greeter reads the log once it has joined. */
export const isPassedOver = ({ greetBy = 0, joinBy = 0 }: Subscriber, now: number): boolean =>
  Math.max(greetBy, joinBy) > now;
