/**
 * Flood: many due items, spread over a simulated hour, and a janitor that sweeps once a minute. The time is virtual: each
 * request to the table, each save and each stop takes some of it. It counts what the sweeps ask of the table.
 */
import { reconcileSlots } from '#shared/application/janitor/reconcile-slots.ts';
import { sweep } from '#shared/application/janitor/sweep-in-rounds.ts';
import { recordTaskEvent } from '#shared/application/sandbox/record-task-event.ts';
import { finishStop } from '#shared/application/sandbox/stop-sandbox.ts';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import { floodItems, lifetimes } from './flood-items.ts';
import { Invocation } from './invocation.ts';
import {
  type Change,
  type Command,
  type MemoryTable,
  openMemoryTable,
  pageBytesMax,
} from './memory-table.ts';
import { openQuietPorts } from './quiet-ports.ts';
import { Simulation } from './world.ts';

export type FloodReport = {
  readonly calls: number;
  readonly itemsRead: number;
  /** The longest time from the moment at which an item is due to its sweep, in milliseconds. */
  readonly lateMsMax: number;
  /** Items that nobody swept within the hour. */
  readonly left: number;
  /** Errors and warnings of the janitor. */
  readonly reported: readonly string[];
  /** Part of the writes to the index of sessions that meets its busiest partition. */
  readonly shardShareMax: number;
};

const minuteMs = 60_000;
const auditMs = 5 * minuteMs;
const hourMs = 60 * minuteMs;
/** Anything due later is swept behind the hour. */
const spreadOfHourMs = hourMs - 1.25 * minuteMs;
const requestMsMax = 20;
const indexLagMsMax = 300;
const transferMs = [100, 2000] as const;
const taskEndMs = [2000, 30_000] as const;
const turnMs = [100, 20_000] as const;
const seed = 20_260_101;

export const flood = async (count: number, { spreadMs = spreadOfHourMs } = {}): Promise<FloodReport> => {
  const sim = new Simulation(seed, new Set());
  sim.calmDown();
  const from = sim.now();
  const table = openMemoryTable({
    now: () => sim.now(),
    lagMs: () => sim.random.int(0, indexLagMsMax),
    pageBytes: () => pageBytesMax,
    leavesUndone: () => false,
  });
  for (const Item of floodItems(count, { from, spreadMs, uuid: () => sim.random.uuid() }))
    table.execute({ constructor: { name: 'PutCommand' }, input: { Item } });
  const counts = new Counts(sim);
  const janitor = openJanitor(sim, counts.over(table), table);
  for (let minute = 1; minute <= hourMs / minuteMs; minute += 1)
    sim.after(minute * minuteMs, () => void janitor.sweep());
  for (let at = auditMs; at <= hourMs + auditMs; at += auditMs) sim.after(at, () => void janitor.audit());
  await sim.runUntil(from + hourMs + auditMs + minuteMs);
  return { ...counts.report(), reported: janitor.reported(), left: leftIn(table, from + hourMs) };
};

/** Requests of the janitor and the changes that they make. */
class Counts {
  readonly #sim: Simulation;
  readonly #shards = new Map<string, number>();
  #calls = 0;
  #itemsRead = 0;
  #lateMsMax = 0;

  constructor(sim: Simulation) {
    this.#sim = sim;
  }

  over(table: MemoryTable): MemoryTable {
    return { ...table, execute: (command) => this.#execute(table, command) };
  }

  report(): Pick<FloodReport, 'calls' | 'itemsRead' | 'lateMsMax' | 'shardShareMax'> {
    const writes = [...this.#shards.values()];
    const all = writes.reduce((sum, count) => sum + count, 0);
    return {
      calls: this.#calls,
      itemsRead: this.#itemsRead,
      lateMsMax: this.#lateMsMax,
      shardShareMax: all === 0 ? 0 : Math.max(...writes) / all,
    };
  }

  #execute(table: MemoryTable, command: Command): ReturnType<MemoryTable['execute']> {
    const result = table.execute(command);
    this.#calls += 1;
    this.#itemsRead += itemsIn(result.output);
    for (const change of result.changes) this.#follow(change);
    return result;
  }

  #follow({ before, after }: Change): void {
    const [was, is] = [before?.['dueAt'], after?.['dueAt']];
    if (typeof was !== 'number' || was === is) return;
    const shard = String(before?.['duePk']);
    if (shard.includes('slots')) return;
    this.#lateMsMax = Math.max(this.#lateMsMax, this.#sim.now() - was);
    if (shard.includes('session')) this.#shards.set(shard, (this.#shards.get(shard) ?? 0) + 1);
  }
}

const itemsIn = (output: {
  readonly Item?: object;
  readonly Items?: readonly object[];
  readonly Responses?: Readonly<Record<string, readonly object[]>>;
}): number =>
  (output.Item === undefined ? 0 : 1) +
  (output.Items?.length ?? 0) +
  Object.values(output.Responses ?? {}).flat().length;

const openJanitor = (sim: Simulation, counted: MemoryTable, table: MemoryTable) => {
  const { ports: quiet, hooks, warned, takeRequests } = openQuietPorts(counted);
  hooks.before = () => sim.pause(sim.random.int(1, requestMsMax));
  const { world } = new Invocation(sim, 'janitor', () => undefined);
  const ports: typeof quiet = {
    ...quiet,
    world,
    archive: {
      ...quiet.archive,
      save: async (...asked) => {
        await sim.pause(sim.random.int(...transferMs));
        return quiet.archive.save(...asked);
      },
    },
    host: {
      ...quiet.host,
      stop: async (taskArn) => {
        sim.after(sim.random.int(...taskEndMs), () => void taskEnded(taskArn));
        return undefined;
      },
    },
    invoker: {
      ...quiet.invoker,
      runTurn: async (id) =>
        sim.after(sim.random.int(...turnMs), () => table.execute(turnEnded(id, sim.now()))),
      stopSandbox: async (id) => {
        const workspace = await ports.workspaces.get(id);
        if (workspace !== undefined) await finishStop(ports, workspace);
      },
    },
  };
  const taskEnded = (taskArn: string): Promise<void> => {
    const group = `workspace/${taskArn.replace('task ', '') as WorkspaceId}/1`;
    const event = { taskArn, group, lastStatus: 'STOPPED', desiredStatus: 'STOPPED' };
    return recordTaskEvent(ports, event);
  };
  return {
    sweep: async (): Promise<void> => {
      await sweep(ports, { lifetimes });
      takeRequests();
    },
    audit: async (): Promise<void> => {
      await reconcileSlots(ports);
      takeRequests();
    },
    reported: () => warned,
  };
};

/** The change that a turn's function makes to a session that was woken. */
const turnEnded = (id: string, at: number): Command => ({
  constructor: { name: 'UpdateCommand' },
  input: {
    Key: { pk: `SESSION#${id}`, sk: 'META' },
    UpdateExpression: 'SET #status = :idle, lastActiveAt = :at, dueAt = :dueAt',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: { ':idle': 'idle', ':at': at, ':dueAt': at + lifetimes.idleMs },
  },
});

const leftIn = (table: MemoryTable, by: number): number =>
  table
    .partitions()
    .flatMap((pk) => table.partition(pk))
    .filter(({ duePk, dueAt }) => duePk !== undefined && Number(dueAt) <= by).length;
