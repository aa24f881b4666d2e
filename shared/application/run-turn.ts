/**
 * Runs a session's turns: takes the lease, does what is pending, and leaves when there is nothing to do.
 *
 * May be invoked twice, late, or for nothing; it may die at any line. Whoever comes next reads the same
 * state and goes on. A holder that finds nothing to do tells the audience the newest events again, since
 * its predecessor may have died between its commit and telling.
 */
import { eventFrame } from '../contracts/frames.ts';
import type { SessionId, TurnId } from '../domain/ids.ts';
import { turnLeaseMs } from '../domain/limits.ts';
import type { Session } from '../domain/session.ts';
import { pendingWork } from '../domain/turn/pending-work.ts';
import type { TurnEvent } from '../domain/turn/turn.ts';
import { type AudiencePorts, openAudience } from './audience.ts';
import { callModel, type ModelPorts } from './call-model.ts';
import { advance, type Desk, type DeskLimits, isBetweenTurns } from './desk.ts';
import { runTools, type ToolPorts } from './run-tools.ts';

export type TurnPorts = ToolPorts & ModelPorts & AudiencePorts;

export type TurnSettings = { readonly limits: DeskLimits; readonly outputTokensMax: number };

type Run = { readonly settings: TurnSettings; readonly correlationId: string; readonly signal: AbortSignal };

/** How many of the newest events are told again to an audience that may have missed them. */
const retoldEventsMax = 20;

export const runTurn = async (
  ports: TurnPorts,
  {
    sessionId,
    settings,
    correlationId,
  }: { sessionId: SessionId; settings: TurnSettings; correlationId: string },
): Promise<void> => {
  const at = ports.world.now();
  const lease = { holder: ports.world.uuid(), at, until: at + turnLeaseMs };
  const session = await ports.sessions.takeLease(sessionId, lease);
  if (session === undefined) {
    ports.telemetry.count('LeasesContended');
    return;
  }
  const kept = keepLease(ports, session);
  try {
    await work(ports, await layOut(ports, session), { settings, correlationId, signal: kept.signal });
  } finally {
    kept.stop();
  }
};

/** Renews the lease three times within its length; a lost one aborts what runs under it. */
const keepLease = (
  ports: TurnPorts,
  session: Session,
): { readonly signal: AbortSignal; readonly stop: () => void } => {
  const lost = new AbortController();
  const done = new AbortController();
  const renew = async (): Promise<void> => {
    while (!done.signal.aborted) {
      await ports.world.sleep(turnLeaseMs / 3, done.signal);
      if (done.signal.aborted) return;
      const isMine = await ports.sessions.renewLease(session, ports.world.now() + turnLeaseMs);
      if (!isMine) return lost.abort(new Error('the lease was lost'));
    }
  };
  renew().catch((error: unknown) => ports.telemetry.warn('a lease was not renewed', { error }));
  return { signal: lost.signal, stop: () => done.abort() };
};

const layOut = async (ports: TurnPorts, session: Session): Promise<Desk> => {
  const { watchers, ...loaded } = await ports.sessions.loadWork(session.id);
  return { session, ...loaded, audience: openAudience(ports, session.id, watchers), lease: 'held' };
};

const work = async (ports: TurnPorts, first: Desk, run: Run): Promise<void> => {
  let desk = first;
  let isIdle = true;
  while (desk.lease !== 'left') {
    if (desk.lease === 'reload') desk = await reload(ports, desk);
    const next = await step(ports, desk, run);
    if (next === undefined) {
      if (await leave(ports, desk, { run, isIdle })) return;
      desk = await reload(ports, desk);
    } else {
      desk = next;
      isIdle = false;
    }
  }
};

/** One step forward; undefined when nothing is pending. */
const step = async (
  ports: TurnPorts,
  desk: Desk,
  { settings, correlationId, signal }: Run,
): Promise<Desk | undefined> => {
  const { state } = desk.turn;
  const { limits, outputTokensMax } = settings;
  if (state.kind === 'thinking') {
    const event = await callModel(ports, { desk, state, limits, outputTokensMax, signal });
    return advance(ports, { desk, event, limits });
  }
  const tools = pendingWork(state).filter((effect) => effect.type === 'run-tool');
  if (tools.length > 0) return runTools(ports, { desk, limits, correlationId }, tools);
  const message = isBetweenTurns(state) ? desk.inbox[0] : undefined;
  if (message === undefined) return undefined;
  ports.telemetry.count('TurnsStarted');
  const { messageId, text } = message;
  const policy = { mode: desk.session.approvals, rememberedTools: desk.session.rememberedTools };
  const event: TurnEvent = {
    type: 'started',
    at: ports.world.now(),
    turnId: ports.world.uuid() as TurnId,
    message: { messageId, text },
    policy,
  };
  return advance(ports, { desk, event, limits });
};

const reload = async (ports: TurnPorts, desk: Desk): Promise<Desk> => {
  const session = await ports.sessions.get(desk.session.id);
  if (session === undefined || session.lease.fence !== desk.session.lease.fence)
    return { ...desk, lease: 'left' };
  const { watchers: _, ...loaded } = await ports.sessions.loadWork(session.id);
  return { ...desk, session, ...loaded, lease: 'held' };
};

/** True when the lease was given back or lost; false when work came meanwhile. */
const leave = async (
  ports: TurnPorts,
  desk: Desk,
  { run, isIdle }: { run: Run; isIdle: boolean },
): Promise<boolean> => {
  if (isIdle) await tellAgain(ports, desk);
  const dueAt = ports.world.now() + run.settings.limits.idleMs;
  return (await ports.sessions.releaseLease(desk.session, dueAt)) !== 'kept';
};

const tellAgain = async (ports: TurnPorts, { session, audience }: Desk): Promise<void> => {
  const since = session.lastSeq - retoldEventsMax;
  const page = { since: Math.max(-1, since), eventsMax: retoldEventsMax };
  const { events } = await ports.sessions.readEvents(session.id, page);
  await audience.tell(events.map((event) => eventFrame(session.id, event)));
};
