/** A function that runs in the simulated world: at each call of a port it may be refused, kept waiting, or die. */
import { createHash } from 'node:crypto';
import type { World } from '#shared/ports/world.ts';
import type { Simulation } from './world.ts';

export type CallOptions = {
  /** It changes something: only then can an answer be lost. */
  readonly isWrite?: boolean;
  /** The client library sends it again when its answer is lost. */
  readonly isResent?: boolean;
  /** The error of a refusal, and of a lost answer. */
  readonly fault?: (what: string) => Error;
  /** Extra milliseconds of each phase but the first. */
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
/** A port refused, or its answer was lost. */
const portFault = (what: string): Error => Object.assign(new Error(what), { name: 'PortFault' });

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

  /** Remote work goes on, phase after phase, whether or not the caller lives to hear of it. */
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
