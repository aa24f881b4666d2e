/** Holds a turn's lease while it works: renewed three times within its length; a lost one is told once. */
import type { Session } from '../domain/session.ts';
import type { SessionStore } from '../ports/session-store.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import type { World } from '../ports/world.ts';

export type LeasePorts = {
  readonly sessions: Pick<SessionStore, 'renewLease'>;
  readonly telemetry: Telemetry;
  readonly world: World;
};

export const holdLease = (
  { sessions, telemetry, world }: LeasePorts,
  session: Session,
  { leaseMs, onLost }: { readonly leaseMs: number; readonly onLost: () => void },
): { readonly stop: () => void } => {
  const done = new AbortController();
  const renew = async (): Promise<void> => {
    while (!done.signal.aborted) {
      await world.sleep(leaseMs / 3, done.signal);
      if (done.signal.aborted) return;
      if (!(await sessions.renewLease(session, world.now() + leaseMs))) return onLost();
    }
  };
  renew().catch((error: unknown) => telemetry.warn('a lease was not renewed', { error }));
  return { stop: () => done.abort() };
};
