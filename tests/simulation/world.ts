/**
 * The simulated world: a virtual clock, a queue of what happens next, and what breaks a promise.
 *
 * Every port call and every sleep of a function (`invocation.ts`) is a point at which anything else may happen first.
 * Nothing here knows real time; `setImmediate` only lets the promises of one step come to rest before the next.
 */
import { calm, drawFaults, type Faults } from './faults.ts';
import { Queue } from './queue.ts';
import { openRandom, type Random } from './random.ts';

export type Violation = { readonly checker: string; readonly what: string };

/** Thrown out of a run: a promise of the platform was broken. */
export class BrokenPromise extends Error {
  override readonly name = 'BrokenPromise';
  readonly violation: Violation;

  constructor(violation: Violation) {
    super(`${violation.checker}: ${violation.what}`);
    this.violation = violation;
  }
}

export type TraceLine = {
  readonly at: number;
  readonly who: string;
  readonly what: string;
  readonly detail?: unknown;
};

const traceLinesMax = 4000;
export const startOfTime = 1_800_000_000_000;

export class Simulation {
  readonly random: Random;
  faults: Faults;
  readonly trace: TraceLine[] = [];
  steps = 0;
  #now = startOfTime;
  readonly #queue = new Queue();
  #isAwake = false;
  #broken: BrokenPromise | undefined;

  constructor(seed: number) {
    this.random = openRandom(seed);
    this.faults = drawFaults(this.random);
  }

  now(): number {
    return this.#now;
  }

  /** Nothing fails any more, and nobody begins anything new. */
  get isCalm(): boolean {
    return this.faults === calm;
  }

  calmDown(): void {
    this.faults = calm;
  }

  after(milliseconds: number, run: () => void): void {
    this.#queue.push({ at: this.#now + Math.ceil(milliseconds), order: this.random.next(), run });
  }

  /** As long as the platform's promises hold, up to this moment. */
  async runUntil(moment: number): Promise<void> {
    for (;;) {
      const next = this.#queue.first;
      if (next === undefined || next.at > moment) break;
      this.#queue.pop();
      this.#now = next.at;
      this.steps += 1;
      this.#isAwake = false;
      next.run();
      if (this.#isAwake) await new Promise<void>((rested) => void setImmediate(rested));
      this.throwBroken();
    }
    this.#now = moment;
  }

  /** Somebody's promise was settled: what follows from it happens before the next step. */
  wake(): void {
    this.#isAwake = true;
  }

  note(who: string, what: string, detail?: unknown): void {
    this.trace.push({ at: this.#now - startOfTime, who, what, detail });
    if (this.trace.length > 2 * traceLinesMax) this.trace.splice(0, traceLinesMax);
  }

  violate(checker: string, what: string): void {
    this.note('checker', `${checker}: ${what}`);
    this.#broken ??= new BrokenPromise({ checker, what });
  }

  throwBroken(): void {
    if (this.#broken !== undefined) throw this.#broken;
  }

  latency(): number {
    const { random, faults } = this;
    return random.chance(faults.slow) ? random.spread(200, 40_000) : random.int(1, 15);
  }

  /** For those who are no function: users, machines. */
  pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(milliseconds, () => {
        this.wake();
        resolve();
      });
    });
  }
}
