/**
 * The money of a tree of sessions by its branches: what each session has spent and reserved, alone and with all sessions below it.
 *
 * Unsettled money is known of the whole tree and of its slices alone: the session of a lost call may be deleted.
 */
import type { SessionId } from './ids.ts';
import { type Session, totalsOf } from './session.ts';
import type { Tree } from './tree-budget.ts';
import type { Slice } from './tree-slice.ts';

type Branch<S> = {
  readonly session: S;
  readonly costUsd: number;
  /** With all sessions below it. */
  readonly branchCostUsd: number;
  /** Of its calls that are on their way. */
  readonly reservedUsd: number;
  /** Its part of the tree's money; absent: it was given none of its own. */
  readonly slice?: Slice | undefined;
};

type Priced = Parameters<typeof totalsOf>[0];
type Member = Pick<Session, 'id' | 'tree' | 'depth'> & Priced;

type TreeMoney = {
  /** All that were ever started. */
  readonly agents: number;
  readonly spentUsd: number;
  readonly reservedUsd: number;
  readonly unsettledUsd: number;
};

export type ShownTree = {
  /** The time of what it says, in epoch milliseconds. */
  readonly at: number;
  readonly session: Session;
  /** Of the whole tree. */
  readonly money: TreeMoney;
  /** The session first, then those below it, nearest first. */
  readonly branches: readonly Branch<Session>[];
};

/** Of a whole tree; a session without one has spent what it cost. */
export const moneyOf = (tree: Tree | undefined, session: Priced): TreeMoney =>
  tree === undefined
    ? { agents: 1, spentUsd: totalsOf(session).costUsd, reservedUsd: 0, unsettledUsd: 0 }
    : {
        agents: tree.agents,
        spentUsd: tree.spentUsd,
        reservedUsd: Object.values(tree.reserved).reduce((sum, { usd }) => sum + usd, 0),
        unsettledUsd: tree.unsettledUsd ?? 0,
      };

/** In the order they are given: each but the first is below another of them. */
export const branchesOf = <S extends Member>(
  sessions: readonly S[],
  tree: Pick<Tree, 'reserved' | 'slices'> | undefined,
): readonly Branch<S>[] => {
  const reserved = reservedBySession(tree?.reserved ?? {});
  const sums = branchSums(sessions);
  return sessions.map((session) => ({
    session,
    costUsd: totalsOf(session).costUsd,
    branchCostUsd: sums.get(session.id) ?? 0,
    reservedUsd: reserved.get(session.id) ?? 0,
    slice: tree?.slices?.[session.id],
  }));
};

/** The deepest first, so that each is whole when its parent takes it. */
const branchSums = (sessions: readonly Member[]): ReadonlyMap<SessionId, number> => {
  const sums = new Map<SessionId, number>();
  for (const session of sessions.toSorted((one, other) => other.depth - one.depth)) {
    const sum = (sums.get(session.id) ?? 0) + totalsOf(session).costUsd;
    sums.set(session.id, sum);
    const parent = session.tree?.parent;
    if (parent !== undefined) sums.set(parent, (sums.get(parent) ?? 0) + sum);
  }
  return sums;
};

/** A call of a program has a reservation of its own: its session's id, a slash and another. */
const reservedBySession = (reserved: Tree['reserved']): ReadonlyMap<string, number> => {
  const sums = new Map<string, number>();
  for (const [id, { usd }] of Object.entries(reserved)) {
    const [session = id] = id.split('/', 1);
    sums.set(session, (sums.get(session) ?? 0) + usd);
  }
  return sums;
};
