/** The tree of a session: itself and all sessions below it, with what each branch has spent, and the money of the whole tree. */
import { type Session, treeOf } from '../../domain/session.ts';
import { subtreeOf } from '../../domain/session-tree.ts';
import { settledAt } from '../../domain/tree-budget.ts';
import { branchesOf, moneyOf, type ShownTree } from '../../domain/tree-spending.ts';
import type { SessionStore } from '../../ports/session-store.ts';
import type { Deps } from '../deps.ts';

export const showTree = async (
  { sessions, trees, world }: Deps<'sessions' | 'trees' | 'world'>,
  session: Session,
): Promise<ShownTree> => {
  const root = treeOf(session);
  const [read, below] = await Promise.all([
    root === undefined ? undefined : trees.read(root),
    descendantsOf(sessions, session),
  ]);
  const at = world.now();
  const tree = read && settledAt(read, at);
  return { at, session, money: moneyOf(tree, session), branches: branchesOf([session, ...below], tree) };
};

/** All descendants of a session, nearest first. */
export const descendantsOf = async (
  { descendants }: SessionStore,
  session: Session,
): Promise<readonly Session[]> => {
  const root = treeOf(session);
  return root === undefined ? [] : subtreeOf(await descendants(root), session.id);
};
