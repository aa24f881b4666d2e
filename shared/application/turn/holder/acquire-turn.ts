/**
 * Acquires the lease of a turn and reads its work, side by side where the function was invoked for a message that was accepted
 * while the session rested.
 *
 * A read beside the acquisition counts only where nothing but that message has come since: a message that came after
 * the read would otherwise be left behind by a holder that takes it for seen.
 */
import type { Session } from '../../../domain/session.ts';
import { isNextHolder, type SessionMark } from '../../../domain/turn/session-mark.ts';
import type { SessionWork, TurnStore } from '../../../ports/turn-store.ts';
import type { Deps } from '../../deps.ts';

export type Acquired = {
  readonly session: Session;
  /** Absent: it is to be read under the lease. */
  readonly work?: SessionWork;
};

/** Undefined when another holder has the lease. */
export const acquireTurn = async (
  { turns }: Deps<'turns'>,
  id: Session['id'],
  {
    lease,
    mark,
  }: { readonly lease: Parameters<TurnStore['takeLease']>[1]; readonly mark?: SessionMark | undefined },
): Promise<Acquired | undefined> => {
  // A read that fails is made again under the lease.
  const reading = mark === undefined ? undefined : turns.loadWork(id).catch(() => undefined);
  const session = await turns.takeLease(id, lease);
  if (session === undefined) return undefined;
  const work = mark !== undefined && isNextHolder(mark, session) ? await reading : undefined;
  return { session, ...(work === undefined ? {} : { work }) };
};
