/**
 * Trees of sessions: descendants and their generations, and the limits of a tree: how deep, how many agents, how much money.
 */
import type { SessionId } from './ids.ts';

/** The position of a child: the root of its tree, and the session whose agent started it. */
export type SessionTree = {
  readonly root: SessionId;
  readonly parent: SessionId;
  /** The sessions whose slices of money pay for it, the outermost first: its own, if it was given one, is the last. */
  readonly slices?: readonly SessionId[];
  /** Epoch milliseconds after which it and all below it call no model. */
  readonly until?: number;
};

type Member = {
  readonly id: SessionId;
  readonly tree?: Pick<SessionTree, 'root' | 'parent'>;
  readonly depth: number;
};

/** True when the time is over that it was given: it calls no model any more. */
export const isOutOfTime = ({ tree }: { readonly tree?: SessionTree }, at: number): boolean =>
  tree?.until !== undefined && tree.until <= at;

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

/** Undefined: the operator's hold. A tree changes by its slices alone. */
export type LimitsChange = {
  readonly limits?: SessionLimits | undefined;
  readonly tree?: SessionTree | undefined;
};

type Limited = { readonly limits?: SessionLimits; readonly tree?: SessionTree };

/** Most that a session and its descendants may cost, in US dollars. */
export const costUsdMaxOf = ({ limits }: Limited, operatorUsdMax: number): number =>
  Math.min(limits?.costUsdMax ?? operatorUsdMax, limits?.ownCostUsdMax ?? Number.POSITIVE_INFINITY);

/** The same for its whole tree: the limit that a child has of its own is of its branch, and bounds that by a slice (TM6). */
export const treeUsdMaxOf = (session: Limited, operatorUsdMax: number): number =>
  session.tree === undefined
    ? costUsdMaxOf(session, operatorUsdMax)
    : (session.limits?.costUsdMax ?? operatorUsdMax);

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
  costUsdMax: treeUsdMaxOf(limited, operator.costUsdMax),
});

/** A turn's limits with its session's money. */
export const withOwnMoney = <Limits extends { readonly usdMax: number }>(
  turn: Limits,
  session: Limited,
): Limits => ({ ...turn, usdMax: costUsdMaxOf(session, turn.usdMax) });
