/**
 * Trees of sessions: descendants and their generations, the limits of a tree, and its money.
 *
 * A call to a model reserves the most it can cost before it is made, and exchanges that for its real cost. Where less is
 * left, it reserves what is left, and its answer is bounded by that. While no call costs more than it reserved, a tree never
 * spends more than its limit; and no session waits for a call that is over (docs/spec/sessions.md: TM1, TM2, TM3).
 */
import type { SessionId } from './ids.ts';

/** The position of a child: the root of its tree, and the session whose agent started it. */
export type SessionTree = { readonly root: SessionId; readonly parent: SessionId };

type Member = { readonly id: SessionId; readonly tree?: SessionTree; readonly depth: number };

/** The descendants of one of a tree's sessions, nearest first. */
export const subtreeOf = <M extends Member>(tree: readonly M[], top: SessionId): readonly M[] => {
  const byDepth = [...tree].sort((one, other) => one.depth - other.depth);
  const above = new Set<SessionId>([top]);
  return byDepth.filter(({ id, tree }) => {
    const isUnder = tree !== undefined && above.has(tree.parent);
    if (isUnder) above.add(id);
    return isUnder;
  });
};

/** As `subtreeOf`, one list for each depth. */
export const generationsOf = <M extends Member>(
  tree: readonly M[],
  top: SessionId,
): readonly (readonly M[])[] => [...Map.groupBy(subtreeOf(tree, top), ({ depth }) => depth).values()];

/** The limits of one tree of agents: how deep, how many agents, how much money. */
export type TreeLimits = {
  /** 0: its agent starts no other. */
  readonly recursionDepthMax?: number;
  readonly agentsPerSessionMax?: number;
  /** US dollars. */
  readonly costUsdMax?: number;
};

/** A session keeps its project's, and has its own. */
export type SessionLimits = TreeLimits & {
  /** US dollars that its creator lets it cost; it only lowers the limit of its project or of the operator. */
  readonly ownCostUsdMax?: number;
};

/** Undefined: the operator's hold. */
export type LimitsChange = { readonly limits?: SessionLimits | undefined };

type Limited = { readonly limits?: SessionLimits };

/** Most that a session and its descendants may cost, in US dollars. */
export const costUsdMaxOf = ({ limits }: Limited, operatorUsdMax: number): number =>
  Math.min(limits?.costUsdMax ?? operatorUsdMax, limits?.ownCostUsdMax ?? Number.POSITIVE_INFINITY);

/** The bounds in which a project and an operator may set them (docs/spec/sessions.md). */
export const treeLimitBounds = {
  recursionDepthMax: { min: 0, max: 10 },
  agentsPerSessionMax: { min: 1, max: 1000 },
  costUsdMax: { min: 0, max: 100_000 },
} as const satisfies Record<keyof TreeLimits, { readonly min: number; readonly max: number }>;

export const boundsText = (limit: keyof TreeLimits): string =>
  `${treeLimitBounds[limit].min} to ${treeLimitBounds[limit].max}`;

/** The limits in force: a session's or project's own, and the operator's where those are absent. */
export const limitsInForceFor = (limited: Limited, operator: Required<TreeLimits>): Required<TreeLimits> => ({
  recursionDepthMax: limited.limits?.recursionDepthMax ?? operator.recursionDepthMax,
  agentsPerSessionMax: limited.limits?.agentsPerSessionMax ?? operator.agentsPerSessionMax,
  costUsdMax: costUsdMaxOf(limited, operator.costUsdMax),
});

/** A turn's limits with its session's money. */
export const withOwnMoney = <Limits extends { readonly usdMax: number }>(
  turn: Limits,
  session: Limited,
): Limits => ({ ...turn, usdMax: costUsdMaxOf(session, turn.usdMax) });

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
  /** The least for which the call is worth making: its input and a short answer. At most `usd`. */
  readonly usdMin: number;
  /** The limit of the whole tree, in dollars. */
  readonly usdMax: number;
};

/**
 * `grantedUsd`: the most that the call may cost now. `busy`: others have reserved what is left, so ask again soon. `spent`: what is
 * left pays for no call.
 */
export type MoneyAnswer = { readonly grantedUsd: number } | 'busy' | 'spent';

/** While others have reservations a call waits for them rather than take less: most calls cost far less than they reserve. */
export const decideReservation = ({ spentUsd, reserved }: Tree, request: ReservationRequest): MoneyAnswer => {
  const { session, fence, usd, usdMin, usdMax } = request;
  if (spentUsd >= usdMax) return 'spent';
  if ((reserved[session]?.fence ?? 0) > fence) return 'busy';
  const others = Object.values(reservedByOthers(reserved, request));
  const leftUsd = others.reduce((left, other) => left - other.usd, usdMax - spentUsd);
  if (usd <= leftUsd) return { grantedUsd: usd };
  if (others.length > 0) return 'busy';
  return usdMin <= leftUsd ? { grantedUsd: leftUsd } : 'spent';
};

/** The reservations after a grant of `usd`: without the session's older one and those that have expired. */
export const withReservation = (
  { reserved }: Tree,
  request: Reservation & Pick<ReservationRequest, 'session' | 'at'>,
): Tree['reserved'] => {
  const { session, usd, fence, until } = request;
  return { ...reservedByOthers(reserved, request), [session]: { usd, fence, until } };
};

const reservedByOthers = (
  reserved: Tree['reserved'],
  { session, at }: Pick<ReservationRequest, 'session' | 'at'>,
): Tree['reserved'] =>
  Object.fromEntries(Object.entries(reserved).filter(([id, { until }]) => id !== session && until > at));
