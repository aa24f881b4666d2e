/**
 * The platform in the simulated world: its functions as they are deployed, each invocation with ports of its own,
 * invoked at least once, late, twice, or not at all where the janitor makes up for it.
 */

import { makeCallerStore } from '#shared/adapters/aws/dynamo/caller-store.ts';
import { makeConnectionStore } from '#shared/adapters/aws/dynamo/connection-store.ts';
import { makeMcpServerStore } from '#shared/adapters/aws/dynamo/mcp-servers.ts';
import { makePlaceStore } from '#shared/adapters/aws/dynamo/places.ts';
import { makeProjectStore } from '#shared/adapters/aws/dynamo/project-store.ts';
import { makeSandboxLog } from '#shared/adapters/aws/dynamo/sandbox-log.ts';
import { makeSessionStore } from '#shared/adapters/aws/dynamo/session-store.ts';
import { makeWorkspaceStore } from '#shared/adapters/aws/dynamo/workspace-store.ts';
import { greetConnection } from '#shared/application/connection/greet-connection.ts';
import { noteTaskEvent, type TaskEvent } from '#shared/application/sandbox/note-task-event.ts';
import { runTurn } from '#shared/application/turn/run-turn.ts';
import type { JanitorTask } from '#shared/contracts/janitor-task.ts';
import type { ConnectionId, SessionId, WorkspaceId } from '#shared/domain/ids.ts';
import type { Lifetimes } from '#shared/domain/session-lifetime.ts';
import { isAppError } from '#shared/errors.ts';
import type { Invoker } from '#shared/ports/invoker.ts';
import type { Sockets } from '#shared/ports/sockets.ts';
import type { Telemetry } from '#shared/ports/telemetry.ts';
import { perform } from '../../functions/janitor/perform.ts';
import { Checkers } from './checkers.ts';
import { type Ecs, openEcs } from './ecs.ts';
import { archiveFor, type Bucket, type InsideOptions, linkFor, toolsFor } from './inside.ts';
import type { Ledger } from './machine.ts';
import { type Command, type MemoryTable, openMemoryTable, tableOver } from './memory-table.ts';
import { modelFor } from './model.ts';
import { remoteFor } from './registry.ts';
import { Invocation, type Simulation } from './world.ts';

export type Settings = {
  readonly lifetimes: Lifetimes;
  readonly poolSize: number;
  readonly leaseMs: number;
  /** How long a turn function may run. */
  readonly turnMs: number;
  readonly limits: { readonly stepsMax: number; readonly callsMax: number; readonly usdMax: number };
  readonly places: { readonly executionMax: number; readonly agentMax: number };
};

export type Ended<T> =
  | { readonly status: 'done'; readonly value: T }
  | { readonly status: 'failed'; readonly error: unknown }
  | { readonly status: 'died' };

export type Ports = ReturnType<Platform['portsOf']>;

type Job<T> = {
  readonly name: string;
  readonly timeoutMs: number;
  readonly run: (ports: Ports, invocation: Invocation) => Promise<T>;
};

const requestMs = 29_000;
const longestMs = 900_000;
const janitorMs = 300_000;
const retriesMax = 2;
const retryMs = 60_000;
const callCostUsd = 0.01;
const mcpTimes = { checkMs: 60_000 };

export const bearerHash = (workspaceId: WorkspaceId, generation: number): string =>
  `bearer of ${workspaceId}:${generation}`;

const reads = new Set(['GetCommand', 'QueryCommand', 'BatchGetCommand']);
const resent = new Set(['PutCommand', 'UpdateCommand', 'DeleteCommand']);

export class Platform {
  readonly sim: Simulation;
  readonly settings: Settings;
  readonly table: MemoryTable;
  readonly ledger: Ledger = new Map();
  readonly bucket: Bucket = new Map();
  readonly ecs: Ecs;
  readonly checkers: Checkers;
  /** Open sockets: what each client got. */
  readonly clients = new Map<ConnectionId, string[]>();
  readonly #inside: InsideOptions;
  #invocations = 0;

  constructor(sim: Simulation, settings: Settings) {
    this.sim = sim;
    this.settings = settings;
    const lagMs = (): number =>
      sim.faults.indexLagMsMax === 0 ? 0 : sim.random.int(0, sim.faults.indexLagMsMax);
    this.table = openMemoryTable({ now: () => sim.now(), lagMs });
    this.checkers = new Checkers({
      sim,
      table: this.table,
      ledger: this.ledger,
      bucket: this.bucket,
      ecs: () => this.ecs,
      placesMax: { execution: settings.places.executionMax, agent: settings.places.agentMax },
      stepsMax: settings.limits.stepsMax,
    });
    this.ecs = openEcs({
      sim,
      ledger: this.ledger,
      onBegin: (callKey, taskArn) => this.checkers.begins(callKey, taskArn),
      onEvent: (event) => this.#taskEvent(event),
    });
    this.#inside = {
      ecs: this.ecs,
      bucket: this.bucket,
      onDeleted: (manifest) => this.checkers.deleted(manifest),
      onLastSave: (sandbox) => this.checkers.savesLast(sandbox),
      onRestore: (sandbox) => this.checkers.restores(sandbox),
      bearerHash,
    };
  }

  portsOf(invocation: Invocation) {
    const { settings } = this;
    const table = tableOver((command) => this.#send(invocation, command));
    return {
      sessions: makeSessionStore(table),
      workspaces: makeWorkspaceStore(table),
      places: makePlaceStore(table),
      connections: makeConnectionStore(table),
      callers: makeCallerStore(table),
      projects: makeProjectStore(table),
      sandboxLog: makeSandboxLog(table),
      sockets: this.#socketsFor(invocation),
      invoker: this.#invokerFor(invocation),
      telemetry: telemetryFor(invocation),
      world: invocation.world,
      host: this.ecs.hostFor(invocation),
      link: linkFor(this.#inside, invocation),
      tools: toolsFor(this.#inside, invocation),
      archive: archiveFor(this.#inside, invocation),
      models: {
        open: () => Promise.resolve(modelFor(invocation, (asked) => this.checkers.modelAsked(asked))),
      },
      mcpServers: makeMcpServerStore(table),
      secrets: { read: () => Promise.resolve({}), clear: () => Promise.resolve() },
      remoteMcp: remoteFor(invocation, { onPerform: (id) => this.checkers.performsOutside(id) }),
      mcpTimes,
      costOf: () => callCostUsd,
      checkProvider: () => undefined,
      poolSize: settings.poolSize,
      bearerHash,
    };
  }

  /** One invocation, and how it ended. */
  invoke<T>({ name, timeoutMs, run }: Job<T>): Promise<Ended<T>> {
    const { sim } = this;
    this.#invocations += 1;
    return new Promise((resolve) => {
      const end = (ended: Ended<T>): void => {
        sim.wake();
        resolve(ended);
      };
      const invocation = new Invocation(sim, `${name}#${this.#invocations}`, () => end({ status: 'died' }));
      sim.note(invocation.name, 'begins');
      sim.after(timeoutMs, () => invocation.runsOut());
      run(this.portsOf(invocation), invocation).then(
        (value) => {
          this.#rest(invocation);
          end({ status: 'done', value });
        },
        (error: unknown) => {
          sim.note(invocation.name, `fails: ${error}`);
          if (!isForeseen(error))
            sim.violate(
              'a function fails only as its ports do',
              error instanceof Error ? `${error.stack}` : `${error}`,
            );
          this.#rest(invocation);
          end({ status: 'failed', error });
        },
      );
    });
  }

  /** An environment is frozen after its answer, or used again at once: what was left running goes on. */
  #rest(invocation: Invocation): void {
    this.sim.note(invocation.name, 'ends');
    invocation.rest(this.sim.random.chance(0.5));
  }

  /** As Lambda does it for asynchronous events: once, and again if it fails. */
  async background(job: Job<unknown>): Promise<void> {
    for (let attempt = 0; attempt <= retriesMax; attempt += 1) {
      const { status } = await this.invoke(job);
      if (status === 'done' || this.sim.random.chance(this.sim.faults.wakeLost)) return;
      await this.sim.pause(retryMs * (attempt + 1));
    }
  }

  request<T>(name: string, run: Job<T>['run']): Promise<Ended<T>> {
    return this.invoke({ name, timeoutMs: requestMs, run });
  }

  longRequest<T>(name: string, run: Job<T>['run']): Promise<Ended<T>> {
    return this.invoke({ name, timeoutMs: longestMs, run });
  }

  janitor(task: JanitorTask): Promise<void> {
    const { lifetimes, poolSize } = this.settings;
    const flavors = { execution: 'small', agent: 'micro' } as const;
    const defaults = {
      provider: 'demo' as const,
      flavor: 'small' as const,
      template: 'python' as const,
      lifetimes,
      places: this.settings.places,
    };
    return this.background({
      name: `janitor ${task.sweep}`,
      timeoutMs: janitorMs,
      run: (ports) =>
        perform(ports, task, { lifetimes, poolSize, flavors, mcpTimes, defaults, correlationId: 'sweep' }),
    });
  }

  #turn(sessionId: SessionId, hops: number): Promise<void> {
    const { turnMs, leaseMs, limits, lifetimes } = this.settings;
    const history = { tokensMax: 100_000, messagesMax: 12 };
    const settings = {
      outputTokensMax: 100,
      leaseMs,
      limits: { turn: limits, history, idleMs: lifetimes.idleMs },
    };
    return this.background({
      name: 'turn',
      timeoutMs: turnMs,
      run: (ports) =>
        runTurn(ports, {
          sessionId,
          settings,
          correlationId: 'turn',
          deadlineAt: ports.world.now() + turnMs,
          hops,
        }),
    });
  }

  #taskEvent(event: TaskEvent): void {
    void this.background({
      name: 'task-events',
      timeoutMs: requestMs,
      run: (ports) => noteTaskEvent(ports, event, 'event'),
    });
  }

  #send(invocation: Invocation, command: Command): Promise<object> {
    const { name } = command.constructor;
    const execute = (): object => {
      const { output, changes } = this.table.execute(command);
      if (changes.length > 0) {
        this.sim.note(invocation.name, name, changes);
        this.checkers.wrote(changes, invocation);
      }
      return output;
    };
    return invocation.call(name, execute, { isWrite: !reads.has(name), isResent: resent.has(name) });
  }

  #socketsFor(invocation: Invocation): Sockets {
    const { sim, clients, checkers } = this;
    return {
      post: (connection, frame) =>
        invocation.call('post', () => {
          if (sim.random.chance(sim.faults.postFails)) throw new Error('PayloadTooLargeException');
          checkers.told(frame);
          const got = clients.get(connection);
          if (got === undefined) return 'gone' as const;
          got.push(frame);
          if (sim.random.chance(sim.faults.clientLeaves)) clients.delete(connection);
          return 'sent' as const;
        }),
      close: (connection) => invocation.call('close', () => void clients.delete(connection)),
    };
  }

  #invokerFor(invocation: Invocation): Invoker {
    const { sim } = this;
    const wake = (what: string, run: () => Promise<void>): Promise<void> =>
      invocation.call(what, () => {
        sim.note(invocation.name, what);
        if (sim.random.chance(sim.faults.wakeLost)) return sim.note('lambda', `loses ${what}`);
        const times = sim.random.chance(sim.faults.wakeTwice) ? 2 : 1;
        for (let time = 0; time < times; time += 1) {
          const isLate = sim.random.chance(sim.faults.wakeLate);
          sim.after(isLate ? sim.random.spread(500, 90_000) : sim.random.int(5, 200), () => void run());
        }
      });
    return {
      runTurn: (session, _correlationId, hops = 0) =>
        wake(`wakes the turn of ${session}`, () => this.#turn(session, hops)),
      stopSandbox: (workspaceId) =>
        wake(`wakes the janitor to stop ${workspaceId}`, () => this.janitor({ sweep: 'stop', workspaceId })),
      fillPool: () => wake('wakes the janitor to fill the pool', () => this.janitor({ sweep: 'pool' })),
      // The simulation registers no servers.
      checkMcpServer: () => Promise.resolve(),
      greet: (connectionId) =>
        wake(`wakes the greeter of ${connectionId}`, () =>
          this.background({
            name: 'greeter',
            timeoutMs: requestMs,
            run: (ports) => greetConnection(ports, { connectionId, correlationId: 'greet' }),
          }),
        ),
    };
  }
}

const telemetryFor = ({ sim, name }: Invocation): Telemetry => ({
  info: () => undefined,
  warn: (message, fields) => sim.note(name, `warns: ${message}`, fields),
  error: (message, fields) => {
    sim.note(name, `reports: ${message}`, fields);
    const error = fields?.['error'];
    if (error !== undefined && !isForeseen(error))
      sim.violate(
        'a function fails only as its ports do',
        error instanceof Error ? `${error.stack}` : `${error}`,
      );
  },
  count: () => undefined,
  duration: () => undefined,
});

/** What a use case may throw: its own refusals, and what its ports threw at it. */
const isForeseen = (error: unknown): boolean =>
  isAppError(error) ||
  (error instanceof Error &&
    (error.name === 'PortFault' ||
      /moved \d+ times|PayloadTooLarge|this session exists/.test(error.message)));
