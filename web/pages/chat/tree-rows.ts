/** Rows of a session tree: each session before those that its agent started. Pure. */
import type { SessionTree } from '#sdk/routes.ts';

export type TreeSession = SessionTree['sessions'][number];
export type TreeRow = { readonly session: TreeSession; readonly level: number; readonly below: number };

export const treeRows = (sessions: readonly TreeSession[]): readonly TreeRow[] => {
  const [top] = sessions;
  const byParent = Map.groupBy(sessions.slice(1), ({ parent }) => parent);
  const rowsOf = (session: TreeSession, level: number): readonly TreeRow[] => {
    const below = (byParent.get(session.id) ?? []).flatMap((child) => rowsOf(child, level + 1));
    return [{ session, level, below: below.length }, ...below];
  };
  return top === undefined ? [] : rowsOf(top, 0);
};

const endedStatuses: readonly TreeSession['status'][] = ['completed', 'failed', 'error', 'stopped'];
export const isOver = ({ status }: TreeSession): boolean => endedStatuses.includes(status);
