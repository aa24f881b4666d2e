/** Discards the session of a trial whose call is decided and carried out: its saved files are of no use any more. */
import type { SessionId } from '../../../domain/ids.ts';
import type { Deps } from '../../deps.ts';

/** It is no longer needed: the janitor's next sweep deletes it. One that is not heard of is looked at later anyway. */
export const discardTrial = async (
  { sessions, telemetry, world }: Deps<'sessions' | 'telemetry' | 'world'>,
  id: SessionId,
): Promise<void> => {
  try {
    const session = await sessions.get(id);
    if (session !== undefined) await sessions.postpone(session, world.now());
  } catch (error) {
    telemetry.warn('a trial was not discarded', { sessionId: id, error });
  }
};
