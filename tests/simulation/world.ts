/**
 * The simulated world: a virtual clock, a queue of what happens next, and the functions that run in it.
 *
 * Every port call and every sleep of a function is a point at which anything else may happen first. Nothing
 * here knows real time; `setImmediate` only lets the promises of one step come to rest before the next.
 */
import { createHash } from 'node:crypto';
import type { World } from '#shared/ports/world.ts';
import { calm, drawFaults, type Faults } from './faults.ts';
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

/** A port refused, or its answer was lost. */
export class PortFault extends Error {
  override readonly name = 'PortFault';
}

type Step = { readonly at: number; readonly order: number; readonly run: () => void };
export type TraceLine = {
  readonly at: number;
  readonly who: string;
  readonly what: string;
  readonly detail?: unknown;
};

const traceLinesMax = 4000;
export const startOfTime = 1_800_000_000_000;

/** The earliest first; of those at one moment, the one that chance puts first. */
class Queue {
  readonly #steps: Step[] = [];

  get first(): Step | undefined {
    return this.#steps[0];
  }

  push(step: Step): void {
    const steps = this.#steps;
    let at = steps.push(step) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(step, steps[parent] ?? step)) break;
      steps[at] = steps[parent] ?? step;
      at = parent;
    }
    steps[at] = step;
  }

  pop(): Step | undefined {
    const steps = this.#steps;
    const [first] = steps;
    const last = steps.pop();
    if (first === undefined || last === undefined || steps.length === 0) return first;
    let at = 0;
    for (;;) {
      const child = this.#smallerChild(at);
      if (child === undefined || !isBefore(steps[child] ?? last, last)) break;
      steps[at] = steps[child] ?? last;
      at = child;
    }
    steps[at] = last;
    return first;
  }

  #smallerChild(at: number): number | undefined {
    const left = this.#steps[2 * at + 1];
    const right = this.#steps[2 * at + 2];
    if (left === undefined) return undefined;
    return right !== undefined && isBefore(right, left) ? 2 * at + 2 : 2 * at + 1;
  }
}

const isBefore = (one: Step, other: Step): boolean =>
  one.at < other.at || (one.at === other.at && one.order < other.order);

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

export type CallOptions = {
  /** Whether it changes something: only then can an answer be lost. */
  readonly isWrite?: boolean;
  /** Whether the client library sends it again when its answer is lost. */
  readonly isResent?: boolean;
  /** The error of a refusal, and of a lost answer. */
  readonly fault?: (what: string) => Error;
  /** What each phase but the first takes besides, in milliseconds. */
  readonly pauseMs?: () => number;
};

type Phase = () => unknown;
type Request = {
  readonly what: string;
  readonly phases: readonly Phase[];
  readonly options: CallOptions;
};
type Outcome = { readonly value: unknown } | { readonly error: unknown };

const never = <T>(): Promise<T> => new Promise<T>(() => undefined);
const portFault = (what: string): Error => new PortFault(what);

/** One running function. It dies by never hearing of anything again. */
export class Invocation {
  readonly name: string;
  readonly world: World;
  readonly skewMs: number;
  isAlive = true;
  /** Why it ended before its time. */
  readonly onDeath: (why: string) => void;
  readonly sim: Simulation;
  #hasAnswered = false;

  constructor(sim: Simulation, name: string, onDeath: (why: string) => void) {
    this.sim = sim;
    this.name = name;
    this.onDeath = onDeath;
    const { random, faults } = sim;
    this.skewMs = random.int(-faults.clockSkewMsMax, faults.clockSkewMsMax);
    this.world = {
      now: () => sim.now() + this.skewMs,
      uuid: () => sim.random.uuid(),
      sha256: (text) => createHash('sha256').update(text).digest('hex'),
      sleep: (milliseconds, signal) => this.#sleep(milliseconds, signal),
    };
  }

  die(why: string): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    if (this.#hasAnswered) return;
    this.sim.note(this.name, `dies: ${why}`);
    this.onDeath(why);
  }

  /** It has answered: frozen, no more of it is heard. */
  rest(isFrozen: boolean): void {
    this.#hasAnswered = true;
    if (isFrozen) this.isAlive = false;
  }

  runsOut(): void {
    if (this.#hasAnswered) this.isAlive = false;
    else this.die('its time is over');
  }

  #sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    if (!this.isAlive) return never();
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const onAbort = (): void => resolve();
      signal?.addEventListener('abort', onAbort, { once: true });
      this.sim.after(Math.max(0, milliseconds), () => {
        signal?.removeEventListener('abort', onAbort);
        if (!this.isAlive) return;
        this.sim.wake();
        resolve();
      });
    });
  }

  call<T>(what: string, effect: () => T, options: CallOptions = {}): Promise<T> {
    return this.request<T>(what, [effect], options);
  }

  /** What happens far away goes on, phase after phase, whether or not the caller lives to hear of it. */
  request<T>(what: string, phases: readonly Phase[], options: CallOptions): Promise<T> {
    const { sim } = this;
    if (!this.isAlive) return never();
    if (sim.random.chance(sim.faults.death / 2)) {
      this.die(`before ${what}`);
      return never();
    }
    return new Promise<T>((resolve, reject) => {
      this.#perform({ what, phases, options }, (outcome) => {
        sim.after(sim.latency(), () => {
          if (!this.isAlive) return;
          if (sim.random.chance(sim.faults.death / 2)) return this.die(`after ${what}`);
          sim.wake();
          if ('error' in outcome) reject(outcome.error);
          else resolve(outcome.value as T);
        });
      });
    });
  }

  #perform(request: Request, answer: (outcome: Outcome) => void): void {
    const { sim } = this;
    const { what, options } = request;
    sim.after(sim.latency(), () => {
      if (!sim.random.chance(sim.faults.refused)) return this.#phase(request, 0, answer);
      sim.note(this.name, `${what} is refused`);
      answer({ error: (options.fault ?? portFault)(`${what} was refused`) });
    });
  }

  #phase(request: Request, index: number, answer: (outcome: Outcome) => void): void {
    const { sim } = this;
    const { phases, options } = request;
    const outcome = attempt(phases[index]);
    if ('error' in outcome || index + 1 === phases.length) this.#conclude(request, outcome, answer);
    else sim.after(sim.latency() + (options.pauseMs?.() ?? 0), () => this.#phase(request, index + 1, answer));
  }

  #conclude({ what, phases, options }: Request, outcome: Outcome, answer: (outcome: Outcome) => void): void {
    const { sim } = this;
    if (options.isResent === true && sim.random.chance(sim.faults.sentTwice)) {
      sim.note(this.name, `${what} is sent again`);
      sim.after(sim.latency(), () => answer(attempt(phases.at(-1))));
    } else if (options.isWrite === true && sim.random.chance(sim.faults.answerLost)) {
      sim.note(this.name, `${what}: the answer is lost`);
      answer({ error: (options.fault ?? portFault)(`the answer of ${what} was lost`) });
    } else answer(outcome);
  }
}

const attempt = (phase: Phase | undefined): Outcome => {
  try {
    return { value: phase?.() };
  } catch (error) {
    return { error };
  }
};
