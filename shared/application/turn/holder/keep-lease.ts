/**
 * Keeps the lease of a turn: renews it while its holder works, releases it when nothing is left to do, and hands the turn over
 * in time. The setting `TURN_LEASE_SECONDS` is its length, 30 by default.
 */

import type { SessionId } from '../../../domain/ids.ts';
import { redriveAfterMs, turnHopsMax } from '../../../domain/limits.ts';
import type { Session } from '../../../domain/session.ts';
import { idleTimesOf, nextLook } from '../../../domain/turn/pending-work.ts';
import { isBetweenTurns } from '../../../domain/turn/turn.ts';
import type { Deps } from '../../deps.ts';
import { renewUntilStopped } from '../../renew-until-stopped.ts';
import { raceLost, untilWon } from '../../write-race.ts';
import type { TurnContext } from './turn-context.ts';

/** Renews the lease three times within its length until it is stopped; a lost one is reported once. */
export const keepLease = (
  ports: Deps<'turns' | 'telemetry' | 'world'>,
  session: Session,
  { leaseMs, onLost }: { readonly leaseMs: number; readonly onLost: () => void },
): { readonly stop: () => void } => {
  const held = renewUntilStopped(ports, {
    name: 'a lease',
    everyMs: leaseMs / 3,
    renew: () => ports.turns.renewLease(session, ports.world.now() + leaseMs),
    onLost,
  });
  return { stop: () => void held.stop() };
};

/** True when the lease was given back or lost; false when work came concurrently. */
export const releaseLease = async (
  { turns, world }: Deps<'turns' | 'world'>,
  { session, turn: { state }, inbox, limits }: TurnContext,
): Promise<boolean> => {
  const now = world.now();
  // A holder that came for nothing does not put off when the session rests.
  const times = idleTimesOf(session, limits);
  const restAt = Math.max(now, session.lastActiveAt + times.idleMs);
  const look = nextLook(state, now, times);
  const dueAt = state.kind === 'acting' ? look : Math.min(look, restAt);
  const isIdle = isBetweenTurns(state) && inbox.length === 0;
  const rests = state.kind === 'acting' ? {} : { restsAt: now };
  return (await turns.releaseLease(session, { dueAt, isIdle, ...rests })) !== 'kept';
};

type Handover = { readonly sessionId: SessionId; readonly hops: number };

/** Gives the work that is left to another invocation; after too many of them the janitor drives it on. */
export const handOver = async (
  {
    sessions,
    turns,
    invoker,
    telemetry,
    world,
  }: Deps<'sessions' | 'turns' | 'invoker' | 'telemetry' | 'world'>,
  context: TurnContext,
  { sessionId, hops }: Handover,
): Promise<void> => {
  const dueAt = world.now() + redriveAfterMs;
  // Work that came concurrently keeps the lease, and the next invocation would find it held.
  await untilWon(
    async (race) => {
      const now = race === 0 ? context.session : ((await sessions.get(sessionId)) ?? context.session);
      // Its own lease alone: by now it may be another's.
      const session = { ...now, lease: context.session.lease };
      return (await turns.releaseLease(session, { dueAt, isIdle: false })) === 'kept' ? raceLost : undefined;
    },
    () => undefined,
  );
  telemetry.info('a turn is handed over', { sessionId, hops });
  if (hops < turnHopsMax) await invoker.runTurn(sessionId, { hops: hops + 1 });
};
