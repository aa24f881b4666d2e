/**
 * The work of a session's turn, as the janitor reads it: what it has to do, and whether it still has to hear a child. Only
 * a running session's turn can have any: it alone is read. A detached call that has not ended in its time is work of its
 * own: its turn ends if no function continues it.
 */

import type { SessionId } from '../../domain/ids.ts';
import type { Session } from '../../domain/session.ts';
import type { SessionWork } from '../../domain/session-sweep.ts';
import { callsWithChildren, detachedCalls, pendingWork } from '../../domain/turn/pending-work.ts';
import { isBetweenTurns, noTurn } from '../../domain/turn/turn.ts';
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

/** The parent that has not read this child's answer yet: the log must stay until then (CH3). */
export const waitingParent = async (
  { turns }: Deps<'turns'>,
  { id, tree }: Pick<Session, 'id' | 'tree'>,
): Promise<SessionId | undefined> => {
  if (tree === undefined) return undefined;
  const { state } = (await turns.loadWork(tree.parent)).turn;
  return callsWithChildren(state).some(({ wait }) => wait.child.session === id) ? tree.parent : undefined;
};

/**
 * The use of a session that tries a call: it runs there, or its files are kept until the call is decided and carried out.
 * Undefined for one that its turn has left.
 */
export const trialUse = async (
  { turns }: Deps<'turns'>,
  { id, trialOf }: Pick<Session, 'id' | 'trialOf'>,
): Promise<'running' | 'kept' | undefined> => {
  const { state } = trialOf === undefined ? noTurn : (await turns.loadWork(trialOf)).turn;
  const calls = state.kind === 'deciding' || state.kind === 'acting' ? state.calls : [];
  const own = calls.find(({ trial }) => trial !== undefined && 'session' in trial && trial.session === id);
  if (own?.trial?.state === 'due') return 'running';
  const isOpen = own?.status === 'pending' || own?.status === 'approved' || own?.status === 'executing';
  return isOpen ? 'kept' : undefined;
};
