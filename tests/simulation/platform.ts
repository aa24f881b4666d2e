/**
 * The platform in the simulated world: its functions as they are deployed, each invocation with ports of its own,
 * invoked at least once, late, twice, or not at all where the janitor makes up for it.
 */
import { makeProjectStore } from '#shared/adapters/aws/dynamo/project-store.ts';
import { sendGreeting } from '#shared/application/connection/send-greeting.ts';
import { holdRelay } from '#shared/application/relay/hold-relay.ts';
import { recordTaskEvent, type TaskEvent } from '#shared/application/sandbox/record-task-event.ts';
import { dispatchSchedule } from '#shared/application/schedule/dispatch-schedule.ts';
import { makeConverse } from '#shared/application/schedule/schedule-conversation.ts';
import { sweepSchedules } from '#shared/application/schedule/sweep-schedules.ts';
import type { SessionDefaults } from '#shared/application/session/create-session.ts';
import { runTurn, type TurnInvocation } from '#shared/application/turn/turn-loop.ts';
import type { JanitorTask } from '#shared/contracts/background-tasks.ts';
import type { ConnectionId, SessionId } from '#shared/domain/ids.ts';
import { theDefaultProject } from '#shared/domain/project.ts';
import type { ScheduleId } from '#shared/domain/schedule/schedule.ts';
import type { RelayWork } from '#shared/ports/invoker.ts';
import { performTask } from '../../functions/janitor/janitor-tasks.ts';
import { Bucket } from './bucket.ts';
import { Checkers } from './checkers.ts';
import { type Ecs, openEcs } from './ecs.ts';
import { type Ended, type Job, Lambda, type Usage } from './lambda.ts';
import type { Ledger } from './machine.ts';
import { type MemoryTable, openMemoryTable, pageBytesMax, tableOver } from './memory-table.ts';
import { portsOf } from './ports.ts';
import { costOf, outputTokensMax } from './prices.ts';
import { relayNetwork, relayPortsOf } from './relay-ports.ts';
import { Scheduling } from './scheduler.ts';
import { mcpTimes, principal, requestMs, type Settings } from './settings.ts';
import { TableService } from './table-requests.ts';
import type { Simulation } from './world.ts';

const longestMs = 900_000;
const janitorMs = 300_000;
/** Shorter than as it is deployed: holders of a world of minutes hand over, a minute after they came. */
/** Quiet holders hand over three minutes before it. */
const relayMs = 220_000;

export class Platform {
  readonly sim: Simulation;
  readonly settings: Settings;
  readonly table: MemoryTable;
  readonly service: TableService;
  readonly ledger: Ledger = new Map();
  readonly bucket = new Bucket((workspace, object) => this.checkers.sandboxes.deleted(workspace, object));
  readonly ecs: Ecs;
  readonly checkers: Checkers;
  readonly scheduling: Scheduling;
  /** Projects whose deletion was answered. */
  readonly deletedProjects = new Set<string>();
  /** Open sockets: what each client got. */
  readonly clients = new Map<ConnectionId, string[]>();
  /** A function may die in this world, or not learn the outcome of a call. */
  readonly mayLoseCalls: boolean;
  /** The provider's bill in dollars: for all answers that it began, whether or not anybody heard them. */
  billedUsd = 0;
  onCharged: ((usd: number) => void) | undefined;
  readonly #lambda: Lambda;

  constructor(sim: Simulation, settings: Settings) {
    this.sim = sim;
    this.settings = settings;
    this.#lambda = new Lambda(sim, (invocation) => portsOf(this, invocation));
    // Where calls are slow, the time of a function may run out before its last one.
    const { death, refused, answerLost, paused, slow } = sim.faults;
    this.mayLoseCalls = death + refused + answerLost + paused + slow > 0;
    this.table = openTable(sim);
    this.service = new TableService(sim, this.table, () => this.checkers);
    this.checkers = new Checkers({
      sim,
      table: this.table,
      ledger: this.ledger,
      bucket: this.bucket,
      ecs: () => this.ecs,
      slotsMax: { execution: settings.slots.executionMax, agent: settings.slots.agentMax },
      stepsMax: settings.limits.stepsMax,
      tree: settings.tree,
      costOf: (usage) => costOf(usage, settings.outputUsd),
      idleMs: settings.lifetimes.idleMs,
      isCrowded: settings.isCrowded,
    });
    this.scheduling = new Scheduling(sim, ({ scheduleId, runAt }) => void this.schedules(scheduleId, runAt));
    this.ecs = openEcs({
      sim,
      ledger: this.ledger,
      onBegin: (callKey, taskArn) => this.checkers.sandboxes.begins(callKey, taskArn),
      onStop: (taskArn, reason) => this.checkers.sandboxes.stops(taskArn, reason),
      onEvent: (event) => this.#taskEvent(event),
    });
  }

  request<T>(name: string, run: Job<T>['run']): Promise<Ended<T>> {
    return this.#lambda.invoke({ name, timeoutMs: requestMs, run });
  }

  longRequest<T>(name: string, run: Job<T>['run']): Promise<Ended<T>> {
    return this.#lambda.invoke({ name, timeoutMs: longestMs, run });
  }

  connected(connectionId: ConnectionId): Promise<void> {
    return this.#lambda.background({
      name: 'on-connected',
      timeoutMs: requestMs,
      run: (ports) => sendGreeting(ports, { connectionId }),
    });
  }

  charged(usd: number): void {
    this.billedUsd += usd;
    this.onCharged?.(usd);
  }

  /** The invocations so far that have ended, by name of the function. */
  get used(): ReadonlyMap<string, Usage> {
    return this.#lambda.used;
  }

  get defaults(): SessionDefaults {
    const { lifetimes } = this.settings;
    return { provider: 'demo', flavor: 'small', template: 'python', lifetimes };
  }

  /** Dispatches one schedule, for a moment or at once; without an id all that are due. */
  schedules(id?: ScheduleId, runAt?: number): Promise<void> {
    return this.#lambda.background({
      name: 'schedules',
      timeoutMs: janitorMs,
      run: async (ports, invocation) => {
        const converse = makeConverse(ports, this.defaults);
        const dispatching = {
          ...ports,
          converse,
          scheduler: this.scheduling.portFor(invocation),
          adminTokenHash: principal.tokenHash,
        };
        if (id === undefined) await sweepSchedules(dispatching);
        else await dispatchSchedule(dispatching, { id, runAt });
      },
    });
  }

  janitor(task: JanitorTask): Promise<void> {
    const { lifetimes, poolSize } = this.settings;
    const flavors = { execution: 'small', agent: 'micro' } as const;
    const { defaults } = this;
    return this.#lambda.background({
      name: `janitor ${task.sweep}`,
      timeoutMs: janitorMs,
      run: (ports) => performTask(ports, task, { lifetimes, poolSize, flavors, mcpTimes, defaults }),
    });
  }

  /** From now on its sandboxes have a network, and their relays are held. */
  async openNetwork(): Promise<void> {
    this.sim.hasNetwork = true;
    this.sim.coverage.hit('world/relay');
    const projects = makeProjectStore(tableOver(async (command) => this.table.execute(command).output));
    await projects.create({ ...theDefaultProject, network: relayNetwork });
  }

  relay(work: RelayWork): Promise<void> {
    return this.#lambda.background({
      name: 'relay',
      timeoutMs: relayMs,
      handsOver: true,
      run: async (ports, invocation) => {
        const deadlineAt = ports.world.now() + relayMs;
        await holdRelay(relayPortsOf(ports), { ...work, deadlineAt }).finally(() =>
          this.checkers.relays.ended(invocation),
        );
      },
    });
  }

  woken(sessionId: SessionId, inMs: number): void {
    this.checkers.wakes.woken(sessionId, inMs);
  }

  turn(
    sessionId: SessionId,
    work: Pick<TurnInvocation, 'hops' | 'frames' | 'kills' | 'mark'>,
  ): Promise<void> {
    const { turnMs, leaseMs, toolWaitMs, limits, tree, lifetimes } = this.settings;
    const history = { tokensMax: 100_000, messagesMax: 12 };
    const settings = {
      outputTokensMax,
      leaseMs,
      toolTimes: { waitMs: toolWaitMs, secondsMax: 3600 },
      limits: {
        turn: limits,
        history,
        tree,
        idleMs: lifetimes.idleMs,
        waitStopMs: Math.min(lifetimes.idleMs, lifetimes.waitStopMs),
      },
    };
    return this.#lambda.background({
      name: 'turn',
      timeoutMs: turnMs,
      handsOver: true,
      run: (ports) =>
        runTurn(ports, {
          sessionId,
          settings,
          deadlineAt: ports.world.now() + turnMs,
          ...work,
        }),
    });
  }

  #taskEvent(event: TaskEvent): void {
    void this.#lambda.background({
      name: 'task-events',
      timeoutMs: requestMs,
      run: (ports) => recordTaskEvent(ports, event),
    });
  }
}

/** A page that ends early has some items at least: a query of thousands would take a run's time otherwise. */
const earlyPageBytesMin = 400;
const earlyPageBytesMax = 20_000;

const openTable = (sim: Simulation): MemoryTable =>
  openMemoryTable({
    now: () => sim.now(),
    lagMs: () => {
      const { indexLagMsMax } = sim.faults;
      if (indexLagMsMax === 0) return 0;
      sim.coverage.hit('fault/indexLagMsMax');
      return sim.random.int(0, indexLagMsMax);
    },
    pageBytes: () =>
      sim.fires('pageEndsEarly') ? sim.further.spread(earlyPageBytesMin, earlyPageBytesMax) : pageBytesMax,
    leavesUndone: () => sim.fires('unprocessed'),
  });
