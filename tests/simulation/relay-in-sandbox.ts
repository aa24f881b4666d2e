/**
 * The sandbox's end of the relay in the simulated world, as `sandbox-task/server/relay/relay.ts` has it: one holder at a time, another one
 * only after a hand-over or a silence, and the end of it when nothing needs it any more. It keeps what the checker asks for.
 */
import { relaySilenceMsMax, relaySliceMs } from '#shared/domain/relay/limits.ts';
import { Later } from './invocation.ts';
import type { Simulation } from './world.ts';

type Holder = { readonly id: string; heardAt: number; slices: number; usedAt: number };

type Claim = { readonly holder: string; readonly replaces?: string; readonly idleSeconds: number };

/** One answer to a holder: `over` when it is not needed, `taken` when another one holds the relay, or it handed over. */
export type Slice = 'next' | 'over' | 'taken';

export class RelayInSandbox {
  readonly #sim: Simulation;
  readonly #isBusy: () => boolean;
  #current: Holder | undefined;
  #idleMs = 0;
  #heldUntil = Number.NEGATIVE_INFINITY;

  constructor(sim: Simulation, isBusy: () => boolean) {
    this.#sim = sim;
    this.#isBusy = isBusy;
  }

  /** The last moment at which a holder was served. */
  get heldUntil(): number {
    return this.#holder() === undefined ? this.#heldUntil : this.#sim.now();
  }

  /** False while another holder is heard from that this one does not replace (RL1). */
  hold({ holder: id, replaces, idleSeconds }: Claim): boolean {
    const current = this.#holder();
    const { coverage } = this.#sim;
    if (current !== undefined && current.id !== id && current.id !== replaces) {
      coverage.hit('relay/refused');
      return false;
    }
    coverage.hit(replaces === undefined ? 'relay/held' : 'relay/replaced');
    const now = this.#sim.now();
    this.#idleMs = idleSeconds * 1000;
    if (current?.id !== id) this.#current = { id, heardAt: now, slices: 0, usedAt: now };
    return true;
  }

  /** An answer that lasts until its time is over. */
  slice(id: string): Slice | Later {
    const holder = this.#holder();
    if (holder?.id !== id) return 'taken';
    if (this.#isIdle(holder)) {
      this.#end('relay/idle');
      return 'over';
    }
    holder.slices += 1;
    return new Later(relaySliceMs, (): Slice => {
      holder.slices -= 1;
      holder.heardAt = this.#sim.now();
      return this.#current === holder ? 'next' : 'taken';
    });
  }

  /** Its holder hands over. */
  release(id: string): boolean {
    if (this.#holder()?.id !== id) return false;
    this.#end('relay/handed over');
    return true;
  }

  #end(how: 'relay/idle' | 'relay/handed over' | 'relay/silent'): void {
    this.#sim.coverage.hit(how);
    this.#heldUntil = this.#sim.now();
    this.#current = undefined;
  }

  #isIdle(holder: Holder): boolean {
    const now = this.#sim.now();
    if (this.#isBusy()) holder.usedAt = now;
    return now - holder.usedAt > this.#idleMs;
  }

  /** One that is not heard from is gone. */
  #holder(): Holder | undefined {
    const holder = this.#current;
    if (holder === undefined || holder.slices > 0) return holder;
    if (this.#sim.now() - holder.heardAt < relaySilenceMsMax) return holder;
    this.#end('relay/silent');
    return undefined;
  }
}
