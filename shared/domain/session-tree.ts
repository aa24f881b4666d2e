/** Trees of sessions: descendants and their generations. */
import type { SessionId } from './ids.ts';
import type { Session } from './session.ts';

type Member = Pick<Session, 'id' | 'tree' | 'depth'>;

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
