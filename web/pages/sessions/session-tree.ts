/**
 * Sessions as the trees they are: who was started by whose agent stands under it. Pure.
 *
 * Trees in which something waits for a person come first, then the ones that were active last. A search keeps what is
 * above a match, since a child without its parent says little.
 */
import type { Session } from '#sdk/routes.ts';

export type SessionNode = {
  readonly session: Session;
  readonly children: readonly SessionNode[];
  /** Calls that wait for a decision, in it and below. */
  readonly waiting: number;
  /** The last sign of life, of it and below. */
  readonly activeAt: string;
};

export type SessionRow = {
  readonly node: SessionNode;
  readonly level: number;
  readonly isOpen: boolean;
  /** It is here for what is below it. */
  readonly isContext: boolean;
};

export const treeOf = (sessions: readonly Session[]): readonly SessionNode[] => {
  const known = new Set(sessions.map(({ id }) => id));
  const below = Map.groupBy(sessions, ({ parent }) =>
    parent !== undefined && known.has(parent) ? parent : '',
  );
  const nodesOf = (parent: string): readonly SessionNode[] =>
    (below.get(parent) ?? []).map((session) => nodeOf(session, nodesOf(session.id))).sort(waitingFirst);
  return nodesOf('');
};

const nodeOf = (session: Session, children: readonly SessionNode[]): SessionNode => ({
  session,
  children,
  waiting: session.pendingApprovals.length + sum(children.map(({ waiting }) => waiting)),
  activeAt: [session.lastActiveAt, ...children.map(({ activeAt }) => activeAt)].toSorted().at(-1) ?? '',
});

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

const waitingFirst = (one: SessionNode, other: SessionNode): number =>
  Number(other.waiting > 0) - Number(one.waiting > 0) || other.activeAt.localeCompare(one.activeAt);

export type Shown = {
  readonly matches: (session: Session) => boolean;
  /** Sessions whose children are folded away. */
  readonly closed: ReadonlySet<string>;
};

export const rowsOf = (nodes: readonly SessionNode[], shown: Shown, level = 1): readonly SessionRow[] =>
  nodes.flatMap((node) => {
    const { id } = node.session;
    const below = rowsOf(node.children, shown, level + 1);
    const isMatch = shown.matches(node.session);
    const isOpen = !shown.closed.has(id);
    if (!isMatch && !hasMatch(node, shown)) return [];
    return [{ node, level, isOpen, isContext: !isMatch }, ...(isOpen ? below : [])];
  });

const hasMatch = ({ children }: SessionNode, shown: Shown): boolean =>
  children.some((child) => shown.matches(child.session) || hasMatch(child, shown));

const endedStatuses: readonly Session['status'][] = ['completed', 'failed', 'error', 'stopped'];
export const hasEnded = ({ status }: Pick<Session, 'status'>): boolean => endedStatuses.includes(status);

/** Sessions below it that still live: what a stop takes with it. */
export const activeBelow = ({ children }: SessionNode): number =>
  sum(children.map((child) => Number(!hasEnded(child.session)) + activeBelow(child)));

/** US dollars, of it and below. */
export const treeCost = ({ session, children }: SessionNode): number =>
  session.costUsd + sum(children.map(treeCost));
