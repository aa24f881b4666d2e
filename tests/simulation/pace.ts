/**
 * Order in which the functions of a run get on. In most runs chance alone decides, step by step; in others each function
 * has a random priority, the steps of a lower one wait while a higher one has any, and a few times the one that steps
 * falls behind all others: the order in which races of few steps are found.
 * https://www.microsoft.com/en-us/research/publication/a-randomized-scheduler-with-probabilistic-guarantees-of-finding-bugs/
 */
import type { Random } from './random.ts';

type Clock = {
  readonly now: () => number;
  readonly after: (milliseconds: number, run: () => void) => void;
  readonly isCalm: boolean;
};

export type Actor = { priority: number; steps: number };

/** A step that is due and waits for those of higher functions. */
type Waiting = { readonly actor: Actor; readonly run: () => void };

const stepsExpected = 4000;
const changesMax = 8;
const nextMs = [1, 5] as const;

export class Pace {
  readonly #clock: Clock;
  readonly #random: Random;
  /** The longest time that a step waits for those of higher functions; 0 where chance alone decides. */
  readonly #waitMsMax: number;
  readonly #changesAt = new Set<number>();
  readonly #busy = new Set<Actor>();
  readonly #waiting = new Set<Waiting>();
  #taken = 0;
  #willLook = false;

  constructor(clock: Clock, random: Random, isOrdered: boolean) {
    this.#clock = clock;
    this.#random = random;
    this.#waitMsMax = isOrdered ? random.spread(20, 20_000) : 0;
    if (isOrdered)
      for (let change = random.int(1, changesMax); change > 0; change -= 1)
        this.#changesAt.add(random.int(1, stepsExpected));
  }

  get isOrdered(): boolean {
    return this.#waitMsMax > 0;
  }

  enter(): Actor {
    return { priority: this.isOrdered ? this.#random.next() : 0, steps: 0 };
  }

  /** A step of a function, some time from now. */
  after(actor: Actor, milliseconds: number, run: () => void): void {
    if (!this.isOrdered) {
      this.#clock.after(milliseconds, run);
      return;
    }
    actor.steps += 1;
    this.#busy.add(actor);
    this.#clock.after(milliseconds, () => {
      const step = { actor, run };
      if (!this.#waits(actor)) return this.#take(step);
      this.#waiting.add(step);
      this.#clock.after(this.#waitMsMax, () => {
        if (this.#waiting.has(step)) this.#take(step);
      });
    });
  }

  /** Nobody waits for others any more. */
  release(): void {
    this.#lookSoon();
  }

  #take(step: Waiting): void {
    const { actor, run } = step;
    this.#waiting.delete(step);
    actor.steps -= 1;
    if (actor.steps === 0) this.#busy.delete(actor);
    this.#taken += 1;
    if (this.#changesAt.has(this.#taken)) actor.priority = -this.#taken;
    run();
    this.#lookSoon();
  }

  /** One step has been taken: the highest of those that wait may be free now. */
  #lookSoon(): void {
    if (this.#willLook || this.#waiting.size === 0) return;
    this.#willLook = true;
    this.#clock.after(this.#random.int(...nextMs), () => {
      this.#willLook = false;
      const [first, ...others] = this.#waiting;
      if (first === undefined) return;
      const highest = others.reduce(
        (high, one) => (one.actor.priority > high.actor.priority ? one : high),
        first,
      );
      if (!this.#waits(highest.actor)) this.#take(highest);
    });
  }

  #waits({ priority }: Actor): boolean {
    if (this.#clock.isCalm) return false;
    for (const other of this.#busy) if (other.priority > priority) return true;
    return false;
  }
}
