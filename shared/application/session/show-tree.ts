/** The tree of a session: itself and all sessions below it, with what each branch has spent, and the money of the whole tree. */
import { type Session, treeOf } from '../../domain/session.ts';
import { branchesOf, moneyOf, type ShownTree } from '../../domain/tree-spending.ts';
import type { Deps } from '../deps.ts';
import { descendantsOf } from './read-session-tree.ts';

export const showTree = async (
  { sessions, trees }: Deps<'sessions' | 'trees'>,
  session: Session,
): Promise<ShownTree> => {
  const root = treeOf(session);
  const [tree, below] = await Promise.all([
    root === undefined ? undefined : trees.read(root),
    descendantsOf(sessions, session),
  ]);
  return { session, money: moneyOf(tree, session), branches: branchesOf([session, ...below], tree) };
};
