/** Sessions of trials whose call still waits for them. */

import type { Session } from '../../../domain/session.ts';
import { noTurn } from '../../../domain/turn/turn.ts';
import type { Deps } from '../../deps.ts';

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
