/** All descendants of a session, nearest first. */
import { type Session, treeOf } from '../../domain/session.ts';
import { subtreeOf } from '../../domain/session-tree.ts';
import type { SessionStore } from '../../ports/session-store.ts';

export const descendantsOf = async (
  { descendants }: SessionStore,
  session: Session,
): Promise<readonly Session[]> => {
  const root = treeOf(session);
  return root === undefined ? [] : subtreeOf(await descendants(root), session.id);
};
