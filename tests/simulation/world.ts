/**
 * The simulated world: a virtual clock, a queue of what happens next, and what breaks a promise.
 *
 * Every port call and every sleep of a function (`invocation.ts`) is a point at which anything else may happen first.
 * Nothing here knows real time; `setImmediate` only lets the promises of one step come to rest before the next.
 */
import { Coverage } from './coverage.ts';
import { type ClassName, calm, drawFaults, type FaultName, type Faults, isBasic } from './faults.ts';
import { Pace } from './pace.ts';
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
/** Where a line may hold a megabyte. */
const bigTraceLinesMax = 200;
export const startOfTime = 1_800_000_000_000;

export class Simulation {
  readonly random: Random;
  /** Source of every draw that a class of faults or worlds adds: without them a seed gives the world that it gave before. */
  readonly further: Random;
  readonly on: ReadonlySet<ClassName>;
  readonly coverage = new Coverage();
  readonly pace: Pace;
  /** Nothing fails from the beginning. */
  readonly isQuiet: boolean;
  /** A newer version of the code writes records that this one cannot read. */
  hasNewer = false;
  /** Texts are as long as the platform takes them, and longer. */
  isBig = false;
  /** Hundreds of sessions share a workspace, and leave it at once: some meet another's transaction at every try. */
  isCrowded = false;
  /** Calls outlast the functions that wait for them. */
  hasLongCalls = false;
  /** Its sandboxes have a network. */
  hasNetwork = false;
  /** Models write to processes, where a person decides: nobody watches a schedule. */
  hasInput = false;
  /** People decide calls by their effects. */
  hasTrials = false;
  faults: Faults;
  readonly trace: TraceLine[] = [];
  steps = 0;
  #now = startOfTime;
  readonly #queue = new Queue();
  #isAwake = false;
  #broken: BrokenPromise | undefined;

  constructor(seed: number, on: ReadonlySet<ClassName>) {
    this.random = openRandom(seed);
    this.further = openRandom(seed ^ 0x5bd1e995);
    this.on = on;
    const { faults, isQuiet } = drawFaults(this, on);
    this.faults = faults;
    this.isQuiet = isQuiet;
    this.pace = new Pace(this, this.further, on.has('order') && this.further.chance(0.35));
    if (this.pace.isOrdered) this.coverage.hit('world/ordered');
  }

  now(): number {
    return this.#now;
  }

  /** Nothing fails any more, and nobody begins anything new. */
  get isCalm(): boolean {
    return this.faults === calm;
  }

  /** The moment from which nothing fails; in the future as long as it does. */
  calmSince = Number.POSITIVE_INFINITY;

  calmDown(): void {
    this.calmSince = this.#now;
    this.faults = calm;
    this.pace.release();
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
    const linesMax = this.isBig ? bigTraceLinesMax : traceLinesMax;
    if (this.trace.length > 2 * linesMax) this.trace.splice(0, linesMax);
  }

  violate(checker: string, what: string): void {
    this.note('checker', `${checker}: ${what}`);
    this.#broken ??= new BrokenPromise({ checker, what });
  }

  throwBroken(): void {
    if (this.#broken !== undefined) throw this.#broken;
  }

  /** Draws whether a fault happens here, and counts it. */
  fires(name: FaultName, share = 1): boolean {
    const source = isBasic(name) ? this.random : this.further;
    if (!source.chance(this.faults[name] * share)) return false;
    this.coverage.hit(`fault/${name}`);
    return true;
  }

  latency(): number {
    const { random } = this;
    return this.fires('slow') ? random.spread(200, 40_000) : random.int(1, 15);
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
