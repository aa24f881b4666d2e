/**
 * Has a parent look at its children: one of them has ended a turn, or itself. Told once too often it finds nothing; not
 * told, because who had to died, it looks by itself some time later.
 */
import type { Session } from '../../domain/session.ts';
import type { Invoker } from '../../ports/invoker.ts';
import type { SessionStore } from '../../ports/session-store.ts';
import type { World } from '../../ports/world.ts';

export type WakePorts = {
  readonly sessions: Pick<SessionStore, 'wake'>;
  readonly invoker: Pick<Invoker, 'runTurn'>;
  readonly world: World;
};

/** Does nothing for a session that is nobody's child. */
export const wakeParent = async (
  { sessions, invoker, world }: WakePorts,
  { tree: family }: Pick<Session, 'tree'>,
  correlationId: string,
): Promise<void> => {
  if (family === undefined) return;
  if (await sessions.wake(family.parent, world.now())) await invoker.runTurn(family.parent, correlationId);
};
