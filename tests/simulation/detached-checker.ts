/**
 * That the end of a detached call is found: within the janitor's 75 s where nothing keeps it or a look away, and in every world
 * once nothing fails any more. The time in which a function holds the turn does not count: it has other calls to wait for.
 */
import { detachedCalls } from '#shared/domain/turn/pending-work.ts';
import type { CheckerOptions } from './checker-options.ts';
import { turnOf } from './stored.ts';

const lookMs = 5000;
/** A sweep every minute, 15 s, and an index, two clocks, the sweep and the look that are late. */
const foundMs = 75_000 + 15_000;
/** A wake-up that was lost before, a silent sandbox, a long save. */
const afterFaultsMs = foundMs + 30_000 + 90_000 + 400_000;

export class DetachedChecker {
  readonly #options: CheckerOptions;
  readonly #followed = new Set<string>();
  readonly #isUndisturbed: boolean;

  constructor(options: CheckerOptions) {
    this.#options = options;
    const { death, refused, answerLost, slow, wakeLost, wakeLate, paused, throttled, ...others } =
      options.sim.faults;
    // A janitor whose claim is sent again takes it for another's, and leaves the look to the next sweep.
    const { sentTwice } = others;
    const { conflict, tornMsMax, saveLong, restoreLong, halfOpen, linkDown, linkBreaks, taskDies } = others;
    const ofFunctions =
      death + refused + answerLost + slow + wakeLost + wakeLate + paused + throttled + sentTwice;
    const ofSandboxes = saveLong + restoreLong + halfOpen + linkDown + linkBreaks + taskDies;
    this.#isUndisturbed =
      ofFunctions + ofSandboxes + conflict + tornMsMax === 0 &&
      !options.isCrowded &&
      !options.sim.pace.isOrdered;
  }

  /** The turn was written. */
  wrote(id: string): void {
    for (const { key } of detachedCalls(turnOf(this.#options.table, id))) {
      if (this.#followed.has(key)) continue;
      this.#followed.add(key);
      this.#options.sim.coverage.hit('call/detached');
      this.#lookLater(id, key);
    }
  }

  #lookLater(id: string, key: string, endedAt?: number): void {
    this.#options.sim.after(lookMs, () => this.#look(id, key, endedAt));
  }

  #look(id: string, key: string, endedBefore: number | undefined): void {
    const { sim, table, ledger } = this.#options;
    if (!detachedCalls(turnOf(table, id)).some((call) => call.key === key)) return;
    const isHeld = Number(table.get(`SESSION#${id}`, 'META')?.['leaseUntil'] ?? 0) > sim.now();
    const hasEnded = ledger.get(key)?.end !== undefined;
    const endedAt = hasEnded && !isHeld ? (endedBefore ?? sim.now()) : undefined;
    if (endedAt !== undefined && sim.now() > this.#latest(endedAt))
      sim.violate('the end of a detached call is found', `${id}: ${key}, ${sim.now() - endedAt} ms`);
    this.#lookLater(id, key, endedAt);
  }

  #latest(endedAt: number): number {
    const { sim, isCrowded } = this.#options;
    if (isCrowded) return Number.POSITIVE_INFINITY;
    return this.#isUndisturbed ? endedAt + foundMs : Math.max(endedAt, sim.calmSince) + afterFaultsMs;
  }
}
