/**
 * The table as a service that functions call: it throttles, a write meets the transactions that run, and queries see the
 * items of a transaction one after another while it ends. Each write goes to the checkers.
 */
import type { Checkers } from './checkers.ts';
import { type Invocation, Later } from './invocation.ts';
import type { Command, MemoryTable } from './memory-table.ts';
import type { Simulation } from './world.ts';

type Key = { readonly pk: string; readonly sk: string };
type Named = { readonly Key?: Key; readonly Item?: Key };
type Actions = readonly Readonly<Record<string, Named>>[];

const reads = new Set(['GetCommand', 'QueryCommand', 'BatchGetCommand']);
const resent = new Set(['PutCommand', 'UpdateCommand', 'DeleteCommand']);
/** Beyond the conflicts with transactions of this world: those with transactions that it does not model. */
const strayShare = 0.05;

const actionsOf = ({ input }: Command): Actions => (input as { TransactItems?: Actions }).TransactItems ?? [];

/** The items of a write; of a batch none, since its deletions wait for no transaction here. */
const keysOf = (command: Command): readonly string[] => {
  const named = [command.input as Named, ...actionsOf(command).flatMap((action) => Object.values(action))];
  const keys = named.map(({ Key, Item }) => Key ?? Item).filter((key) => key !== undefined);
  return keys.map(({ pk, sk }) => `${pk} ${sk}`);
};

export class TableService {
  /** The number of all so far. */
  requests = 0;
  readonly #sim: Simulation;
  readonly #table: MemoryTable;
  readonly #checkers: () => Checkers;
  /** The end of the transaction that holds an item. */
  readonly #held = new Map<string, number>();

  constructor(sim: Simulation, table: MemoryTable, checkers: () => Checkers) {
    this.#sim = sim;
    this.#table = table;
    this.#checkers = checkers;
  }

  send(invocation: Invocation, command: Command): Promise<object> {
    const { name } = command.constructor;
    this.requests += 1;
    const isWrite = !reads.has(name);
    const options = { isWrite, isResent: resent.has(name) };
    const work = (): unknown => {
      this.#throttle(invocation, command);
      return isWrite ? this.#write(invocation, command) : this.#table.execute(command).output;
    };
    return invocation.request(name, work, options);
  }

  #throttle({ name }: Invocation, command: Command): void {
    if (!this.#sim.fires('throttled')) return;
    this.#sim.note(name, `${command.constructor.name} is throttled`);
    throw refusal(command, 'ProvisionedThroughputExceeded');
  }

  #write(invocation: Invocation, command: Command): unknown {
    const sim = this.#sim;
    const waitMs = this.#heldMs(command);
    if (waitMs > 0 ? sim.fires('conflict') : sim.fires('conflict', strayShare)) {
      sim.note(invocation.name, `${command.constructor.name} meets a transaction`);
      throw refusal(command, 'TransactionConflict');
    }
    if (waitMs > 0) return new Later(waitMs, () => this.#write(invocation, command));
    const { output, changes } = this.#table.execute(command);
    if (changes.length > 0) {
      sim.note(invocation.name, command.constructor.name, changes);
      this.#checkers().wrote(changes, invocation);
    }
    const { tornMsMax } = sim.faults;
    if (tornMsMax === 0 || actionsOf(command).length < 2) return output;
    const until = sim.now() + tornMsMax + 1;
    sim.coverage.hit('fault/tornMsMax');
    for (const key of keysOf(command)) this.#held.set(key, until);
    for (const change of changes) this.#table.hide(change, sim.now() + sim.further.int(0, tornMsMax));
    return new Later(tornMsMax + 1, () => output);
  }

  /** Milliseconds for which a transaction still holds an item of this write. */
  #heldMs(command: Command): number {
    if (this.#held.size === 0) return 0;
    const now = this.#sim.now();
    for (const [key, until] of this.#held) if (until <= now) this.#held.delete(key);
    return Math.max(0, ...keysOf(command).map((key) => (this.#held.get(key) ?? now) - now));
  }
}

/** Transactions name a reason for each action. */
const refusal = (command: Command, code: string): Error => {
  const actions = actionsOf(command);
  const name = actions.length === 0 ? `${code}Exception` : 'TransactionCanceledException';
  const CancellationReasons = actions.map((_, index) => ({ Code: index === 0 ? code : 'None' }));
  return Object.assign(new Error(`${name}: ${code}`), { name, CancellationReasons });
};
