/** What ends a session ends all that were started under it (CH4), nearest first: no parent that goes on hears of a child's end. */

import { isEnded, type Session } from '../../domain/session.ts';
import { generationsOf } from '../../domain/session-tree.ts';
import type { SessionStore } from '../../ports/session-store.ts';

/** Of a session that has ended and so takes no more children. */
export const endChildren = async (
  sessions: Pick<SessionStore, 'descendants'>,
  { id, tree: family, hasChildren }: Session,
  end: (child: Session) => Promise<unknown>,
): Promise<void> => {
  if (hasChildren === undefined) return;
  const tree = await sessions.descendants(family?.root ?? id);
  for (const generation of generationsOf(tree, id))
    await Promise.all(generation.filter(({ status }) => !isEnded(status)).map(end));
};
