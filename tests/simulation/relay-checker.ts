/**
 * Checker of the relay (docs/spec/relay.md), in worlds whose sandboxes have a network: who has lost it leaves (RL1); a function that
 * uses a sandbox has asked for a holder, and once nothing fails each request has one, also that of a holder which hands over (RL5, RL6);
 * and in the end nobody holds anything.
 */
import type { LiveSandbox } from '#shared/domain/sandbox.ts';
import type { RelayWork } from '#shared/ports/invoker.ts';
import type { CheckerOptions } from './checker-options.ts';
import type { Invocation } from './invocation.ts';
import type { Machine } from './machine.ts';
import type { Slice } from './relay-in-sandbox.ts';
import { workspaceOf } from './stored.ts';

type Generation = Pick<LiveSandbox, 'workspaceId' | 'generation'>;

/** A wake-up, a claim and their answers. */
const heldMs = 20_000;
/** A function that stood still when the faults ended may call two minutes later; a holder that died then is waited for 30 s. */
const settledMs = 180_000;

export class RelayChecker {
  readonly #options: CheckerOptions;
  readonly #left = new WeakSet<Invocation>();
  readonly #holders = new Set<Invocation>();
  /** The sandboxes for which a function asked for a holder, and those that it handed over. */
  readonly #asked = new WeakMap<Invocation, Set<string>>();
  readonly #handsOver = new WeakSet<Invocation>();

  constructor(options: CheckerOptions) {
    this.#options = options;
  }

  holds(by: Invocation): void {
    this.#holders.add(by);
  }

  /** A holder was answered. */
  answered(by: Invocation, slice: Slice): void {
    if (this.#left.has(by)) this.#options.sim.violate('RL1: who has lost the relay leaves it', by.name);
    if (slice !== 'next') this.#left.add(by);
  }

  /** A function asks for a holder; the request itself may fail. */
  asked(by: Invocation, work: RelayWork): void {
    const { sim } = this.#options;
    const asked = this.#asked.get(by) ?? new Set();
    this.#asked.set(by, asked.add(nameOf(work)));
    if (work.replaces !== undefined) this.#handsOver.delete(by);
    if (!this.#isWell) return;
    sim.coverage.hit('relay/asked');
    const since = sim.now();
    sim.after(heldMs, () => {
      const machine = this.#ready(work);
      if (machine !== undefined && machine.relay.heldUntil < since)
        sim.violate('RL5: a requested relay is held', machine.taskArn);
    });
  }

  /** A call is about to begin in a sandbox. */
  used(by: Invocation, sandbox: Generation): void {
    const { sim, table } = this.#options;
    const record = workspaceOf(table, sandbox.workspaceId).sandbox;
    if (record?.generation !== sandbox.generation || record.network === undefined) return;
    sim.coverage.hit('relay/used');
    if (this.#asked.get(by)?.has(nameOf(sandbox)) !== true)
      sim.violate('RL5: the relay of a sandbox in use is requested', `${by.name}: ${nameOf(sandbox)}`);
  }

  /** A holder has handed over. */
  released(by: Invocation): void {
    this.#options.sim.coverage.hit('relay/followed');
    this.#handsOver.add(by);
  }

  /** The work of a holder is over. */
  ended(by: Invocation): void {
    if (this.#handsOver.has(by)) this.#options.sim.violate('RL6: who hands over asks for the next', by.name);
  }

  /** Nothing keeps a holder away, and nothing that failed before has a consequence any more. */
  get #isWell(): boolean {
    const { sim } = this.#options;
    const { faults, pace, isCalm, calmSince } = sim;
    const { death, refused, answerLost, slow, wakeLost, wakeLate, paused, throttled, conflict } = faults;
    const ofFunctions = death + refused + answerLost + slow + wakeLost + wakeLate + paused;
    if (ofFunctions + throttled + conflict + faults.linkDown > 0) return false;
    if (isCalm) return sim.now() - calmSince > settledMs;
    return !pace.isOrdered;
  }

  /** Undefined for a sandbox that stops, which needs no holder. */
  #ready({ workspaceId, generation }: Generation): Machine | undefined {
    const { table, ecs } = this.#options;
    const record = workspaceOf(table, workspaceId).sandbox;
    if (record?.generation !== generation || record.state !== 'ready') return undefined;
    const machine = ecs().tasks.find(({ taskArn }) => taskArn === record.taskArn)?.machine;
    return machine?.isUp ? machine : undefined;
  }

  atRest(): void {
    for (const holder of this.#holders)
      if (holder.isAlive && !holder.hasAnswered)
        this.#options.sim.violate('RL5: a relay that is not needed is let go', holder.name);
  }
}

const nameOf = ({ workspaceId, generation }: Generation): string => `${workspaceId}:${generation}`;
