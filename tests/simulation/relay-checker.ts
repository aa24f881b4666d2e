/**
 * Checker of the relay (docs/spec/relay.md), in worlds whose sandboxes have a network: who has lost it leaves (RL1), a sandbox in use has it
 * held once nothing fails (RL5), a holder that hands over is followed (RL6), and in the end nobody holds anything.
 */
import { relayPairingMsMax } from '#shared/domain/relay/limits.ts';
import type { CheckerOptions } from './checker-options.ts';
import type { Invocation } from './invocation.ts';
import type { Machine } from './machine.ts';
import type { Slice } from './relay-inside.ts';
import { idsOf, workspaceOf } from './stored.ts';

/** A wake-up, a claim and their answers. */
const heldMs = 20_000;
/** A holder that is let go between the claim of a use and its call: a program that wants the relay has it called again (RL7). */
const letGoMs = 5000;
/** A function that stood still when the faults ended may call two minutes later; a holder that died then is waited for 30 s. */
const settledMs = 180_000;

export class RelayChecker {
  readonly #options: CheckerOptions;
  readonly #left = new WeakSet<Invocation>();
  readonly #holders = new Set<Invocation>();

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

  /** A call begins in a sandbox with a network. */
  used(machine: Machine): void {
    const sim = this.#options.sim;
    if (!this.#isWell) return;
    sim.coverage.hit('relay/used');
    const since = sim.now() - letGoMs;
    sim.after(heldMs, () => {
      if (machine.relay.heldUntil < since && this.#isReady(machine))
        sim.violate('RL5: the relay of a sandbox in use is held', machine.taskArn);
    });
  }

  /** A holder has handed over. */
  released(machine: Machine): void {
    const sim = this.#options.sim;
    if (!this.#isWell) return;
    sim.coverage.hit('relay/followed');
    const since = sim.now();
    sim.after(relayPairingMsMax, () => {
      if (machine.relay.heldUntil <= since && this.#isReady(machine))
        sim.violate('RL6: who hands over is followed', machine.taskArn);
    });
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

  /** A sandbox that stops needs no holder. */
  #isReady({ taskArn, isUp }: Machine): boolean {
    const { table } = this.#options;
    const records = idsOf(table, 'WORKSPACE#').map((id) => workspaceOf(table, id).sandbox);
    return isUp && records.some((record) => record?.taskArn === taskArn && record.state === 'ready');
  }

  atRest(): void {
    for (const holder of this.#holders)
      if (holder.isAlive && !holder.hasAnswered)
        this.#options.sim.violate('RL5: a relay that is not needed is let go', holder.name);
  }
}
