/**
 * A function that runs in the simulated world: at each call of a port it may be refused, kept waiting, stand still, or
 * die.
 */
import { createHash } from 'node:crypto';
import type { World } from '#shared/ports/world.ts';
import type { Actor } from './pace.ts';
import type { Simulation } from './world.ts';

export type CallOptions = {
  /** It changes something: only then can an answer be lost. */
  readonly isWrite?: boolean;
  /** The client library sends it again when its answer is lost. */
  readonly isResent?: boolean;
  /** The error of a refusal, and of a lost answer. */
  readonly fault?: (what: string) => Error;
};

type Phase = () => unknown;

/** The result of a phase of remote work that is not over: the next one comes some milliseconds later. */
export class Later {
  readonly milliseconds: number;
  readonly phase: Phase;

  constructor(milliseconds: number, phase: Phase) {
    this.milliseconds = milliseconds;
    this.phase = phase;
  }
}

type Request = { readonly what: string; readonly phase: Phase; readonly options: CallOptions };
type Outcome = { readonly value: unknown } | { readonly error: unknown };

const pauseMsMax = 120_000;
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
  readonly #actor: Actor;
  #pausedUntil = 0;
  #hasAnswered = false;

  constructor(sim: Simulation, name: string, onDeath: (why: string) => void) {
    this.sim = sim;
    this.name = name;
    this.onDeath = onDeath;
    this.#actor = sim.pace.enter();
    const { random, faults } = sim;
    this.skewMs = random.int(-faults.clockSkewMsMax, faults.clockSkewMsMax);
    if (this.skewMs !== 0) sim.coverage.hit('fault/clockSkewMsMax');
    this.world = {
      now: () => sim.now() + this.skewMs,
      uuid: () => sim.random.uuid(),
      sha256: (text) => createHash('sha256').update(text).digest('hex'),
      sleep: (milliseconds, signal) => this.#sleep(milliseconds, signal),
    };
  }

  get hasAnswered(): boolean {
    return this.#hasAnswered;
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

  /** Runs when the function hears of something: not while it stands still, and never after its death. */
  hear(run: () => void): void {
    const milliseconds = this.#pausedUntil - this.sim.now();
    if (milliseconds > 0) this.sim.after(milliseconds, () => this.hear(run));
    else if (this.isAlive) run();
  }

  #sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    if (!this.isAlive) return never();
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const onAbort = (): void => resolve();
      signal?.addEventListener('abort', onAbort, { once: true });
      this.sim.after(Math.max(0, milliseconds), () =>
        this.hear(() => {
          signal?.removeEventListener('abort', onAbort);
          this.sim.wake();
          resolve();
        }),
      );
    });
  }

  call<T>(what: string, effect: () => T, options: CallOptions = {}): Promise<T> {
    return this.request<T>(what, effect, options);
  }

  /** Remote work goes on, phase after phase, whether or not the caller lives to hear of it. */
  request<T>(what: string, phase: Phase, options: CallOptions): Promise<T> {
    const { sim } = this;
    if (!this.isAlive) return never();
    if (sim.fires('death', 1 / 2)) {
      this.die(`before ${what}`);
      return never();
    }
    this.#mayPause(what);
    return new Promise<T>((resolve, reject) => {
      this.#perform({ what, phase, options }, (outcome) => {
        this.#after(sim.latency(), () =>
          this.hear(() => {
            if (sim.fires('death', 1 / 2)) return this.die(`after ${what}`);
            this.#mayPause(what);
            sim.wake();
            if ('error' in outcome) reject(outcome.error);
            else resolve(outcome.value as T);
          }),
        );
      });
    });
  }

  #mayPause(what: string): void {
    const { sim } = this;
    if (!sim.fires('paused')) return;
    const milliseconds = sim.further.spread(500, pauseMsMax);
    this.#pausedUntil = sim.now() + milliseconds;
    sim.note(this.name, `stands still for ${milliseconds} ms at ${what}`);
  }

  #after(milliseconds: number, run: () => void): void {
    this.sim.pace.after(this.#actor, milliseconds, run);
  }

  #perform(request: Request, answer: (outcome: Outcome) => void): void {
    const { sim } = this;
    const { what, phase, options } = request;
    this.#after(sim.latency(), () => {
      if (!sim.fires('refused')) return this.#phase(request, phase, answer);
      sim.note(this.name, `${what} is refused`);
      answer({ error: (options.fault ?? portFault)(`${what} was refused`) });
    });
  }

  #phase(request: Request, phase: Phase, answer: (outcome: Outcome) => void): void {
    const outcome = attempt(phase);
    const next = 'value' in outcome ? outcome.value : undefined;
    if (!(next instanceof Later)) this.#conclude(request, outcome, answer);
    else this.sim.after(next.milliseconds, () => this.#phase(request, next.phase, answer));
  }

  #conclude({ what, phase, options }: Request, outcome: Outcome, answer: (outcome: Outcome) => void): void {
    const { sim } = this;
    if (options.isResent === true && sim.fires('sentTwice')) {
      sim.note(this.name, `${what} is sent again`);
      sim.after(sim.latency(), () => this.#phase({ what, phase, options: {} }, phase, answer));
    } else if (options.isWrite === true && sim.fires('answerLost')) {
      sim.note(this.name, `${what}: the answer is lost`);
      answer({ error: (options.fault ?? portFault)(`the answer of ${what} was lost`) });
    } else answer(outcome);
  }
}

const attempt = (phase: Phase): Outcome => {
  try {
    return { value: phase() };
  } catch (error) {
    return { error };
  }
};
