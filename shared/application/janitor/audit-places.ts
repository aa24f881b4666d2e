/**
 * The audit of places: each counter with changes is compared with the places taken and those with their
 * sessions. Costs one query and one batch of reads per holder with changes. A holder that moves meanwhile
 * stays due and is looked at next time.
 */
import { type PlaceHolder, projectOfPlaces } from '../../domain/quota.ts';
import { holdsPlace } from '../../domain/session.ts';
import type { PlaceStore } from '../../ports/place-store.ts';
import type { SessionStore } from '../../ports/session-store.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import type { World } from '../../ports/world.ts';

export type AuditPorts = {
  readonly places: PlaceStore;
  readonly sessions: Pick<SessionStore, 'getMany'>;
  readonly telemetry: Telemetry;
  readonly world: World;
};

export type AuditReport = { readonly audited: number; readonly corrected: number };

const holdersMax = 100;

export const auditPlaces = async (ports: AuditPorts): Promise<AuditReport> => {
  const holders = await ports.places.due(ports.world.now(), holdersMax);
  const results = await Promise.allSettled(holders.map((holder) => auditHolder(ports, holder)));
  for (const result of results)
    if (result.status === 'rejected')
      ports.telemetry.error('places were not audited', { error: result.reason });
  const corrected = results.filter((result) => result.status === 'fulfilled' && result.value).length;
  if (corrected > 0) ports.telemetry.count('PlacesCorrected', corrected);
  return { audited: holders.length, corrected };
};

const auditHolder = async (
  { places, sessions, telemetry, world }: AuditPorts,
  holder: PlaceHolder,
): Promise<boolean> => {
  const { taken } = await places.read(holder);
  const found = new Map((await sessions.getMany(taken.map(({ session }) => session))).map((s) => [s.id, s]));
  const gone = taken.filter(({ session }) => {
    const holding = found.get(session);
    return holding === undefined || !holdsPlace(holding);
  });
  let released = 0;
  for (const { session } of gone) if (await places.release(holder, session, world.now())) released += 1;
  const now = await places.read(holder);
  const isWrong = now.counted !== now.taken.length;
  // One read of several items is no moment of the table: only a holder that did not move since was wrong.
  const isSettled = await places.settle(now);
  const counted = { holder, project: projectOfPlaces(holder), taken: now.taken.length };
  telemetry.info('places are counted', { event: 'places_counted', ...counted });
  const isCorrected = released > 0 || (isSettled && isWrong);
  if (!isCorrected) return false;
  telemetry.warn('places were corrected', {
    event: 'places_corrected',
    holder,
    counted: now.counted,
    taken: now.taken.length,
    released,
    isSettled,
  });
  return true;
};
