/**
 * The ends of an invocation's hold on a turn: read again what moved, go when nothing is left to do, or hand what is
 * left to another invocation.
 */
import { eventFrame } from '../../contracts/frames.ts';
import { redriveAfterMs, turnHopsMax } from '../../domain/limits.ts';
import { type Desk, nextLook } from './desk.ts';
import type { Run, TurnPorts } from './turn-invocation.ts';

/** How many of the newest events are told again to an audience that may have missed them. */
const retoldEventsMax = 20;
const releaseRacesMax = 10;

/** The turn as it stands now, while the lease is still ours. */
export const reload = async (ports: TurnPorts, desk: Desk, run: Run): Promise<Desk> => {
  const session = await ports.sessions.get(desk.session.id);
  if (session === undefined || session.lease.fence !== desk.session.lease.fence)
    return { ...desk, lease: 'left' };
  const { watchers, ...loaded } = await ports.sessions.loadWork(session.id);
  desk.audience.refresh(watchers);
  if (run.watch.interruption() !== 'deadline') run.watch = run.watch.resume(loaded.turn.version);
  return { ...desk, session, ...loaded, lease: 'held' };
};

/** True when the lease was given back or lost; false when work came meanwhile. */
export const leave = async (
  ports: TurnPorts,
  desk: Desk,
  { run, isIdle }: { run: Run; isIdle: boolean },
): Promise<boolean> => {
  if (isIdle) await tellAgain(ports, desk);
  const { limits } = run.settings;
  const now = ports.world.now();
  // Who came for nothing does not put off when the session rests.
  const restAt = Math.max(now, desk.session.lastActiveAt + limits.idleMs);
  const look = nextLook(desk.turn.state, now, limits);
  const dueAt = desk.turn.state.kind === 'acting' ? look : Math.min(look, restAt);
  return (await ports.sessions.releaseLease(desk.session, dueAt)) !== 'kept';
};

/** The work that is left is another invocation's; after too many it is the janitor's to drive on. */
export const handOver = async (ports: TurnPorts, desk: Desk, run: Run): Promise<void> => {
  const { sessionId, correlationId, hops } = run;
  const dueAt = ports.world.now() + redriveAfterMs;
  let { session } = desk;
  // Work that came meanwhile keeps the lease, and the next invocation would find it held.
  for (let race = 0; race < releaseRacesMax; race += 1) {
    if ((await ports.sessions.releaseLease(session, dueAt)) !== 'kept') break;
    session = (await ports.sessions.get(sessionId)) ?? session;
  }
  ports.telemetry.info('a turn is handed over', { sessionId, hops });
  if (hops < turnHopsMax) await ports.invoker.runTurn(sessionId, correlationId, { hops: hops + 1 });
};

const tellAgain = async (ports: TurnPorts, { session, audience }: Desk): Promise<void> => {
  const since = session.lastSeq - retoldEventsMax;
  const page = { since: Math.max(-1, since), eventsMax: retoldEventsMax };
  const { events } = await ports.sessions.readEvents(session.id, page);
  await audience.tell(events.map((event) => eventFrame(session.id, event)));
};
