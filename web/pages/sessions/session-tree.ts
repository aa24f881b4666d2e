/**
 * Session trees: a child session is under the session whose agent started it. Pure.
 *
 * A search keeps the parents of a match. A node stays the same
 * object while its session and its children do, so that a page of a thousand rows draws only those that changed.
 */
import type { Session } from '#sdk/routes.ts';
import { statusLabel } from '#shared/domain/status-label.ts';
import { isAsking } from '../../waiting/sessions-awaiting-approval.ts';

export type SessionNode = {
  readonly session: Session;
  readonly children: readonly SessionNode[];
  /** Calls of the session and its descendants that a person is asked about now. */
  readonly waiting: number;
  /** Last activity of the session and its descendants. */
  readonly activeAt: string;
};

export type SessionRow = {
  readonly node: SessionNode;
  readonly level: number;
  readonly isOpen: boolean;
  /** Shown only for a matching descendant. */
  readonly isContext: boolean;
};

/** Those with pending approvals first, then the most recently active. */
export const waitingFirst = (nodes: readonly SessionNode[]): readonly SessionNode[] =>
  nodes.toSorted(byWaiting);

export const treeOf = (sessions: readonly Session[], inOrder = waitingFirst): readonly SessionNode[] => {
  const known = new Set(sessions.map(({ id }) => id));
  const below = Map.groupBy(sessions, ({ parent }) =>
    parent !== undefined && known.has(parent) ? parent : '',
  );
  const nodesOf = (parent: string): readonly SessionNode[] =>
    inOrder((below.get(parent) ?? []).map((session) => nodeOf(session, nodesOf(session.id))));
  return nodesOf('');
};

const nodes = new WeakMap<Session, SessionNode>();

const nodeOf = (session: Session, children: readonly SessionNode[]): SessionNode => {
  const known = nodes.get(session);
  if (
    known?.children.length === children.length &&
    known.children.every((child, at) => child === children[at])
  )
    return known;
  const node = {
    session,
    children,
    waiting: Number(isAsking(session)) + sum(children.map(({ waiting }) => waiting)),
    activeAt: [session.lastActiveAt, ...children.map(({ activeAt }) => activeAt)].toSorted().at(-1) ?? '',
  };
  nodes.set(session, node);
  return node;
};

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

const byWaiting = (one: SessionNode, other: SessionNode): number =>
  Number(other.waiting > 0) - Number(one.waiting > 0) || other.activeAt.localeCompare(one.activeAt);

export type Shown = {
  readonly matches: (session: Session) => boolean;
  /** Sessions with collapsed children. */
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

/** Active descendants, which a stop ends too. */
export const activeBelow = ({ children }: SessionNode): number =>
  sum(children.map((child) => Number(!hasEnded(child.session)) + activeBelow(child)));

/** Cost in US dollars of the session and its descendants. */
export const treeCost = ({ session, children }: SessionNode): number =>
  session.costUsd + sum(children.map(treeCost));

/** Values by which the columns of the table sort. */
export const sortValues: Readonly<Record<string, (node: SessionNode) => string | number>> = {
  session: ({ session }) => session.title ?? session.id,
  status: ({ session, waiting }) => (waiting > 0 ? ' waiting' : statusLabel(session)),
  model: ({ session }) => (session.kind === 'agent' ? session.model : session.template),
  used: treeCost,
  active: ({ activeAt }) => activeAt,
};
