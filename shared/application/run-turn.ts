/**
 * Runs a session's turns: takes the lease, does what is pending, and leaves when there is nothing to do.
 *
 * May be invoked twice, late, or for nothing; it may die at any line. Whoever comes next reads the same
 * state and goes on. A holder that finds nothing to do tells the audience the newest events again, since
 * its predecessor may have died between its commit and telling. Near the end of its function's time it hands
 * over to another invocation, between two commits.
 */
import { eventFrame } from '../contracts/frames.ts';
import type { SessionId, TurnId } from '../domain/ids.ts';
import { redriveAfterMs, turnHopsMax } from '../domain/limits.ts';
import type { Session } from '../domain/session.ts';
import { pendingWork } from '../domain/turn/pending-work.ts';
import type { Thinking, TurnEvent } from '../domain/turn/turn.ts';
import type { Invoker } from '../ports/invoker.ts';
import { type AudiencePorts, openAudience } from './audience.ts';
import { callModel, type ModelPorts } from './call-model.ts';
import { type Advance, advance, type Desk, type DeskLimits, isBetweenTurns } from './desk.ts';
import { holdLease } from './hold-lease.ts';
import { runTools, type ToolPorts } from './run-tools.ts';
import { saveTurn, saveTurnAgain } from './save-turn.ts';
import { interruptedDesk, type TurnWatch, watchTurn } from './turn-watch.ts';

export type TurnPorts = ToolPorts & ModelPorts & AudiencePorts & { readonly invoker: Invoker };

export type TurnSettings = {
  readonly limits: DeskLimits;
  readonly outputTokensMax: number;
  /** How long the lease of a turn is held without being renewed, in milliseconds. */
  readonly leaseMs: number;
};

export type TurnInvocation = {
  readonly sessionId: SessionId;
  readonly settings: TurnSettings;
  readonly correlationId: string;
  /** Epoch milliseconds at which the function is ended. */
  readonly deadlineAt: number;
  /** How often this work was handed over already. */
  readonly hops: number;
};

type Run = TurnInvocation & { watch: TurnWatch };

/** How many of the newest events are told again to an audience that may have missed them. */
const retoldEventsMax = 20;
const releaseRacesMax = 10;
/** What a function needs to hand over, in milliseconds. */
const handoverMs = 20_000;

export const runTurn = async (ports: TurnPorts, invocation: TurnInvocation): Promise<void> => {
  const { sessionId, settings } = invocation;
  const at = ports.world.now();
  const lease = { holder: ports.world.uuid(), at, until: at + settings.leaseMs };
  const session = await ports.sessions.takeLease(sessionId, lease);
  if (session === undefined) {
    ports.telemetry.count('LeasesContended');
    return;
  }
  const desk = await layOut(ports, session);
  const watch = watchTurn(ports, {
    sessionId,
    version: desk.turn.version,
    audience: desk.audience,
    startedAt: at,
    handoverAt: invocation.deadlineAt - handoverMs,
  });
  const run: Run = { ...invocation, watch };
  const held = holdLease(ports, session, {
    leaseMs: settings.leaseMs,
    onLost: () => run.watch.interrupt('lost'),
  });
  try {
    await work(ports, desk, run);
  } finally {
    held.stop();
    run.watch.stop();
  }
};

const layOut = async (ports: TurnPorts, session: Session): Promise<Desk> => {
  const { watchers, ...loaded } = await ports.sessions.loadWork(session.id);
  return { session, ...loaded, audience: openAudience(ports, session.id, watchers), lease: 'held' };
};

const work = async (ports: TurnPorts, first: Desk, run: Run): Promise<void> => {
  let desk = first;
  let isIdle = true;
  while (desk.lease !== 'left') {
    if (desk.lease === 'reload' || desk.lease === 'moved') desk = await reload(ports, desk, run);
    if (run.watch.interruption() === 'deadline') return handOver(ports, desk, run);
    const next = desk.lease === 'held' ? await step(ports, desk, run) : desk;
    if (next === undefined) {
      if (await leave(ports, desk, { run, isIdle })) return;
      desk = await reload(ports, desk, run);
    } else {
      desk = next;
      isIdle = false;
    }
  }
};

/** One step forward; undefined when nothing is pending. */
const step = async (ports: TurnPorts, desk: Desk, run: Run): Promise<Desk | undefined> => {
  const { state } = desk.turn;
  const { settings, correlationId, watch } = run;
  const { limits } = settings;
  if (state.kind === 'thinking') return think(ports, { desk, state }, run);
  const tools = pendingWork(state).filter((effect) => effect.type === 'run-tool');
  if (tools.length > 0) return runTools(ports, { desk, limits, correlationId, watch }, tools);
  const message = isBetweenTurns(state) ? desk.inbox[0] : undefined;
  if (message === undefined) return undefined;
  ports.telemetry.count('TurnsStarted');
  const { messageId, text } = message;
  const { approvals: mode, rememberedTools, costUsd: spentUsd } = desk.session;
  const event: TurnEvent = {
    type: 'started',
    at: ports.world.now(),
    turnId: ports.world.uuid() as TurnId,
    message: { messageId, text },
    policy: { mode, rememberedTools },
    spentUsd,
  };
  return forward(ports, run, { desk, event });
};

/** The model is asked while what the tools wrote is saved. */
const think = async (
  ports: TurnPorts,
  { desk, state }: { readonly desk: Desk; readonly state: Thinking },
  run: Run,
): Promise<Desk> => {
  const { limits, outputTokensMax } = run.settings;
  try {
    const [event, { said, taken }] = await Promise.all([
      callModel(ports, { desk, state, limits, outputTokensMax, signal: run.watch.signal }),
      saveTurn(ports, desk),
    ]);
    const { used: _, ...saved } = desk;
    const next = await forward(ports, run, { desk: saved, event, said, note: taken?.note });
    if (next.lease !== 'unsaved' || taken === undefined) return next;
    const saidAgain = await saveTurnAgain(ports, taken.sandbox);
    return await forward(ports, run, { desk: saved, event, said: saidAgain });
  } catch (error) {
    if (run.watch.interruption() === undefined) throw error;
    return interruptedDesk(desk, run.watch);
  }
};

const forward = async (
  ports: TurnPorts,
  { settings, watch }: Run,
  going: Pick<Advance, 'desk' | 'event' | 'said' | 'note'>,
): Promise<Desk> => {
  watch.expect(going.desk.turn.version + 1);
  return advance(ports, { ...going, limits: settings.limits });
};

const reload = async (ports: TurnPorts, desk: Desk, run: Run): Promise<Desk> => {
  const session = await ports.sessions.get(desk.session.id);
  if (session === undefined || session.lease.fence !== desk.session.lease.fence)
    return { ...desk, lease: 'left' };
  const { watchers, ...loaded } = await ports.sessions.loadWork(session.id);
  desk.audience.refresh(watchers);
  if (run.watch.interruption() !== 'deadline') run.watch = run.watch.resume(loaded.turn.version);
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

/** The work that is left is another invocation's; after too many it is the janitor's to drive on. */
const handOver = async (ports: TurnPorts, desk: Desk, run: Run): Promise<void> => {
  const { sessionId, correlationId, hops } = run;
  const dueAt = ports.world.now() + redriveAfterMs;
  let { session } = desk;
  // Work that came meanwhile keeps the lease, and the next invocation would find it held.
  for (let race = 0; race < releaseRacesMax; race += 1) {
    if ((await ports.sessions.releaseLease(session, dueAt)) !== 'kept') break;
    session = (await ports.sessions.get(sessionId)) ?? session;
  }
  ports.telemetry.info('a turn is handed over', { sessionId, hops });
  if (hops < turnHopsMax) await ports.invoker.runTurn(sessionId, correlationId, hops + 1);
};

const tellAgain = async (ports: TurnPorts, { session, audience }: Desk): Promise<void> => {
  const since = session.lastSeq - retoldEventsMax;
  const page = { since: Math.max(-1, since), eventsMax: retoldEventsMax };
  const { events } = await ports.sessions.readEvents(session.id, page);
  await audience.tell(events.map((event) => eventFrame(session.id, event)));
};
