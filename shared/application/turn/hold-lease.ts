/**
 * Holds a turn's lease while it works: renewed three times within its length; a lost one is told once. A renewal that
 * fails is made again at the next third: only the table says that a lease is lost.
 */
import type { Session } from '../../domain/session.ts';
import type { SessionStore } from '../../ports/session-store.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import type { World } from '../../ports/world.ts';

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
  const isLost = async (): Promise<boolean> => {
    try {
      return !(await sessions.renewLease(session, world.now() + leaseMs));
    } catch (error) {
      telemetry.warn('a lease was not renewed', { error });
      return false;
    }
  };
  const renew = async (): Promise<void> => {
    while (!done.signal.aborted) {
      await world.sleep(leaseMs / 3, done.signal);
      if (done.signal.aborted) return;
      if (await isLost()) return onLost();
    }
  };
  renew().catch((error: unknown) => telemetry.warn('a lease is held no more', { error }));
  return { stop: () => done.abort() };
};
