/**
 * The pending work of a session's turn, by its record and its items: whether it has something to do, and whether it still waits
 * for a child.
 *
 * Only the turn of a running agent session can have work, so only that is read. A detached call that has not ended in its time
 * counts as work: its turn ends if no function continues it.
 */

import type { Session } from '../../domain/session.ts';
import type { SessionWork } from '../../domain/session-sweep.ts';
import { detachedCalls, pendingWork } from '../../domain/turn/pending-work.ts';
import { isBetweenTurns } from '../../domain/turn/turn.ts';
import type { Deps } from '../deps.ts';

type TurnWork = { readonly work: SessionWork; readonly version: number };

const nothing: TurnWork = { work: 'none', version: 0 };

export const workOf = async (
  { turns, world }: Deps<'turns' | 'world'>,
  { id, status, kind }: Pick<Session, 'id' | 'status' | 'kind'>,
): Promise<TurnWork> => {
  if (kind === 'execution' || status !== 'running') return nothing;
  const {
    inbox,
    turn: { state, version },
  } = await turns.loadWork(id);
  // The turn is over, and the function that ended it died before it gave the session back.
  if (inbox.length === 0) return { work: isBetweenTurns(state) ? 'own' : 'none', version };
  if (state.kind === 'deciding' && pendingWork(state).length === 0) return { work: 'none', version };
  const isLate = detachedCalls(state).some(({ wait }) => wait.endsBy <= world.now());
  const waits = state.kind === 'acting' && pendingWork(state).length === 0 && !isLate;
  return { work: waits ? 'others' : 'own', version };
};

/** L5. A turn with work of its own whose function has not begun yet, or died: no lease and no running call tells of it. */
export const haveWork = async (
  ports: Deps<'turns' | 'world'>,
  sessions: readonly Pick<Session, 'id' | 'status' | 'kind'>[],
): Promise<boolean> => {
  const works = await Promise.all(sessions.map((session) => workOf(ports, session)));
  return works.some(({ work }) => work === 'own');
};
