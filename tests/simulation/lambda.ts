/** Runner of the simulated functions: each invocation has ports of its own, and asynchronous ones are retried. */
import { isForeseen } from './functions.ts';
import { Invocation } from './invocation.ts';
import type { Ports } from './ports.ts';
import type { Simulation } from './world.ts';

export type Ended<T> =
  | { readonly status: 'done'; readonly value: T }
  | { readonly status: 'failed'; readonly error: unknown }
  | { readonly status: 'died' };

export type Job<T> = {
  readonly name: string;
  readonly timeoutMs: number;
  /** It ends itself before its time is over, and another invocation continues. */
  readonly handsOver?: boolean;
  readonly run: (ports: Ports, invocation: Invocation) => Promise<T>;
};

/** The invocations of one function, and the time that they took together. */
export type Usage = { readonly times: number; readonly milliseconds: number };

const retriesMax = 2;
const retryMs = 60_000;

export class Lambda {
  /** By name of the function. */
  readonly used = new Map<string, Usage>();
  readonly #sim: Simulation;
  readonly #portsFor: (invocation: Invocation) => Ports;
  /** Nothing keeps a function from hearing of what it asked for. */
  readonly #isPunctual: boolean;
  #invocations = 0;

  constructor(sim: Simulation, portsFor: (invocation: Invocation) => Ports) {
    this.#sim = sim;
    this.#portsFor = portsFor;
    const { faults, pace } = sim;
    this.#isPunctual = faults.slow + faults.paused === 0 && !pace.isOrdered;
  }

  /** One invocation, and how it ended. */
  invoke<T>({ name, timeoutMs, handsOver, run }: Job<T>): Promise<Ended<T>> {
    const sim = this.#sim;
    this.#invocations += 1;
    const beganAt = sim.now();
    return new Promise((resolve) => {
      const end = (ended: Ended<T>): void => {
        const { times, milliseconds } = this.used.get(name) ?? { times: 0, milliseconds: 0 };
        this.used.set(name, { times: times + 1, milliseconds: milliseconds + sim.now() - beganAt });
        sim.wake();
        resolve(ended);
      };
      const invocation = new Invocation(sim, `${name}#${this.#invocations}`, () => end({ status: 'died' }));
      sim.note(invocation.name, 'begins');
      sim.after(timeoutMs, () => {
        if (handsOver && invocation.isAlive && !invocation.hasAnswered && this.#isPunctual)
          sim.violate('a function hands over before its time is over', invocation.name);
        invocation.runsOut();
      });
      run(this.#portsFor(invocation), invocation).then(
        (value) => {
          this.#rest(invocation);
          end({ status: 'done', value });
        },
        (error: unknown) => {
          sim.note(invocation.name, `fails: ${error}`);
          if (!isForeseen(error, sim))
            sim.violate(
              'a function fails only as its ports do',
              error instanceof Error ? `${error.stack}` : `${error}`,
            );
          this.#rest(invocation);
          end({ status: 'failed', error });
        },
      );
    });
  }

  /** An environment is frozen after its answer, or used again at once: what was left running goes on. */
  #rest(invocation: Invocation): void {
    this.#sim.note(invocation.name, 'ends');
    invocation.rest(this.#sim.random.chance(0.5));
  }

  /** As Lambda does it for asynchronous events: once, and again if it fails. */
  async background(job: Job<unknown>): Promise<void> {
    for (let attempt = 0; attempt <= retriesMax; attempt += 1) {
      const { status } = await this.invoke(job);
      if (status === 'done' || this.#sim.fires('wakeLost')) return;
      await this.#sim.pause(retryMs * (attempt + 1));
    }
  }
}
