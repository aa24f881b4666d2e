/**
 * The money of a tree of sessions: which session may call a model while others of the tree do.
 *
 * A call reserves the most it can cost before it is made, and exchanges that for its real cost. While no call
 * costs more than it reserved, a tree never spends more than its limit and one call; and no session waits for a
 * call that is over (docs/spec/sessions.md: TM1, TM2, TM3).
 */
import type { SessionId } from './ids.ts';

export type Reservation = {
  /** The most its call can cost, in dollars. */
  readonly usd: number;
  /**
   * The fence of the lease under which it was made: a later holder of the session replaces it, an earlier one
   * does not.
   */
  readonly fence: number;
  /** Epoch milliseconds after which that call cannot be made any more. */
  readonly until: number;
};

export type Tree = {
  /** The number of agents, the root included. */
  readonly agents: number;
  readonly spentUsd: number;
  /** Reservations by session: each calls one model at a time. */
  readonly reserved: Readonly<Record<string, Reservation>>;
  readonly version: number;
};

export type ReservationRequest = Reservation & {
  readonly session: SessionId;
  readonly at: number;
  /** The limit of the whole tree, in dollars. */
  readonly usdMax: number;
};

/** `busy`: others have reserved what is left, so ask again soon. `spent`: nothing is left. */
export type MoneyAnswer = 'granted' | 'busy' | 'spent';

/** Without other reservations, the call that passes the limit is made, as in a session without a tree (T16). */
export const decideReservation = ({ spentUsd, reserved }: Tree, request: ReservationRequest): MoneyAnswer => {
  const { session, fence, usd, usdMax } = request;
  if (spentUsd > 0 && spentUsd >= usdMax) return 'spent';
  if ((reserved[session]?.fence ?? 0) > fence) return 'busy';
  const others = Object.values(reservedByOthers(reserved, request));
  const othersUsd = others.reduce((sum, other) => sum + other.usd, 0);
  return others.length === 0 || spentUsd + othersUsd + usd <= usdMax ? 'granted' : 'busy';
};

/** The reservations after a grant: without the session's older one and those that have expired. */
export const withReservation = ({ reserved }: Tree, request: ReservationRequest): Tree['reserved'] => {
  const { session, usd, fence, until } = request;
  return { ...reservedByOthers(reserved, request), [session]: { usd, fence, until } };
};

const reservedByOthers = (
  reserved: Tree['reserved'],
  { session, at }: Pick<ReservationRequest, 'session' | 'at'>,
): Tree['reserved'] =>
  Object.fromEntries(Object.entries(reserved).filter(([id, { until }]) => id !== session && until > at));
