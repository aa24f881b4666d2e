/** The doors of the simulated platform to its surroundings: sockets, functions that it invokes, what it reports. */
import { cancellations } from '#shared/adapters/aws/dynamo/table.ts';
import type { TurnInvocation } from '#shared/application/turn/turn-loop.ts';
import type { JanitorTask } from '#shared/contracts/background-tasks.ts';
import type { ConnectionId, SessionId } from '#shared/domain/ids.ts';
import type { ScheduleId } from '#shared/domain/schedule/schedule.ts';
import { isAppError } from '#shared/errors.ts';
import type { Sockets } from '#shared/ports/connections.ts';
import type { Forgetter, Invoker, RelayWork, SandboxReturner } from '#shared/ports/invoker.ts';
import type { ScheduleDispatcher } from '#shared/ports/schedules.ts';
import type { Correlation, Telemetry } from '#shared/ports/telemetry.ts';
import type { Invocation } from './invocation.ts';
import type { RelayChecker } from './relay-checker.ts';
import type { Simulation } from './world.ts';

type Seen = {
  /** Open sockets: what each client got. */
  readonly clients: Map<ConnectionId, string[]>;
  readonly onTold: (frame: string) => void;
  readonly onFirst: (connection: ConnectionId, frame: string) => void;
};

export const socketsFor = (invocation: Invocation, { clients, onTold, onFirst }: Seen): Sockets => {
  const { sim } = invocation;
  return {
    post: (connection, frame) =>
      invocation.call('post', () => {
        if (sim.fires('postFails')) throw new Error('PayloadTooLargeException');
        if (sim.fires('postSlow')) return 'slow' as const;
        onTold(frame);
        const got = clients.get(connection);
        if (got === undefined) return 'gone' as const;
        if (got.length === 0) onFirst(connection, frame);
        got.push(frame);
        if (sim.fires('clientLeaves')) clients.delete(connection);
        return 'sent' as const;
      }),
    close: (connection) => invocation.call('close', () => void clients.delete(connection)),
  };
};

/** Functions that the platform runs when it is invoked. */
export type Functions = {
  readonly sim: Simulation;
  readonly turn: (
    session: SessionId,
    work: Pick<TurnInvocation, 'hops' | 'frames' | 'kills' | 'mark'>,
  ) => Promise<void>;
  readonly janitor: (task: JanitorTask) => Promise<void>;
  /** A session's turn was asked to run in some milliseconds; a lost wake-up is never run. */
  readonly woken: (session: SessionId, inMs: number) => void;
  readonly connected: (connection: ConnectionId) => Promise<void>;
  readonly schedules: (schedule: ScheduleId) => Promise<void>;
  readonly relay: (work: RelayWork) => Promise<void>;
  readonly checkers: { readonly relays: Pick<RelayChecker, 'asked'> };
};

/** Invoked at least once, late, twice, or not at all. */
export const invokerFor = (platform: Functions, invocation: Invocation): Invoker => {
  const { sim } = platform;
  const wake = (
    what: string,
    run: () => Promise<void>,
    onAsked: (inMs: number) => void = () => undefined,
  ): Promise<void> =>
    invocation.call(what, () => {
      onAsked(0);
      sim.note(invocation.name, what);
      if (sim.fires('wakeLost')) return sim.note('lambda', `loses ${what}`);
      const times = sim.fires('wakeTwice') ? 2 : 1;
      for (let time = 0; time < times; time += 1) {
        const isLate = sim.fires('wakeLate');
        const inMs = isLate ? sim.random.spread(500, 90_000) : sim.random.int(5, 200);
        onAsked(inMs);
        sim.after(inMs, () => void run());
      }
    });
  return {
    runTurn: (session, { hops = 0, frames, kills, mark } = {}) =>
      wake(
        `wakes the turn of ${session}`,
        () => platform.turn(session, { hops, frames, kills, mark }),
        (inMs) => platform.woken(session, inMs),
      ),
    stopSandbox: (workspaceId) =>
      wake(`wakes the janitor to stop ${workspaceId}`, () =>
        platform.janitor({ sweep: 'stop', workspaceId }),
      ),
    fillPool: () => wake('wakes the janitor to fill the pool', () => platform.janitor({ sweep: 'pool' })),
    // The simulation registers no servers.
    checkMcpServer: () => Promise.resolve(),
    holdRelay: (work) => {
      if (!sim.hasNetwork) return Promise.resolve();
      platform.checkers.relays.asked(invocation, work);
      return wake(`wakes the relay of ${work.workspaceId}`, () => platform.relay(work));
    },
    connected: (connectionId) =>
      wake(`wakes on-connected of ${connectionId}`, () => platform.connected(connectionId)),
  };
};

/** Invoked as the others are: the sweep finishes the deletion of a workspace that is lost, that of a project is asked for again. */
export const forgetterFor = (platform: Functions, invocation: Invocation): Forgetter => ({
  forgetWorkspace: (workspaceId) =>
    invocation.call('wakes the janitor to forget a workspace', () => {
      if (!platform.sim.fires('wakeLost')) void platform.janitor({ sweep: 'workspace', workspaceId });
    }),
  forgetProject: (project) =>
    invocation.call('wakes the janitor to forget a project', () => {
      void platform.janitor({ sweep: 'project', project });
    }),
});

/** Invoked as the others are: without it the decision starts the sandbox. */
export const sandboxReturnerFor = (platform: Functions, invocation: Invocation): SandboxReturner => ({
  returnSandbox: (sessionId) =>
    invocation.call(`wakes the janitor to bring back the sandbox of ${sessionId}`, () => {
      const { sim } = platform;
      sim.coverage.hit('sandbox/asked back');
      if (sim.fires('wakeLost')) return;
      const times = sim.fires('wakeTwice') ? 2 : 1;
      for (let time = 0; time < times; time += 1)
        sim.after(sim.further.int(5, 200), () => void platform.janitor({ sweep: 'return', sessionId }));
    }),
});

export const scheduleDispatcherFor = (platform: Functions, invocation: Invocation): ScheduleDispatcher => ({
  dispatch: (schedule) =>
    invocation.call('wakes the schedules', () => {
      if (!platform.sim.fires('wakeLost')) void platform.schedules(schedule);
    }),
});

export const correlationFor = ({ name }: Invocation): Correlation => {
  let followed = name;
  return {
    id: () => followed,
    follow: (id) => {
      followed = id;
    },
  };
};

export const telemetryFor = ({ sim, name }: Invocation): Telemetry => ({
  info: () => undefined,
  warn: (message, fields) => sim.note(name, `warns: ${message}`, fields),
  error: (message, fields) => {
    sim.note(name, `reports: ${message}`, fields);
    const error = fields?.['error'];
    if (error !== undefined && !isForeseen(error, sim))
      sim.violate(
        'a function fails only as its ports do',
        error instanceof Error ? `${error.stack}` : `${error}`,
      );
  },
  count: () => undefined,
  duration: () => undefined,
});

/** True for a use case's own refusals and the errors of its ports. */
export const isForeseen = (
  error: unknown,
  { hasNewer, isCrowded }: Pick<Simulation, 'hasNewer' | 'isCrowded'>,
): boolean =>
  isAppError(error) ||
  (isCrowded && (cancellations(error)?.some(({ code }) => code === 'TransactionConflict') ?? false)) ||
  (hasNewer && error instanceof Error && error.message.includes('unknown shape')) ||
  (error instanceof Error &&
    (error.name === 'PortFault' ||
      error.name === 'ProvisionedThroughputExceededException' ||
      /moved \d+ times|PayloadTooLarge|a session with this id already exists|the sandbox of the deleted workspace|of a deleted project is in use/.test(
        error.message,
      )));
