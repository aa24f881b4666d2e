/** Ends of sandboxes, as their sessions are told of them: each session once for each end (L9), whichever function dies. */
import { isEnded } from '#shared/domain/session.ts';
import type { CheckerOptions } from './checker-options.ts';
import type { Change } from './memory-table.ts';
import { type StoredWorkspace, sessionOf } from './stored.ts';

type Ends = { readonly due: number; readonly any: number; readonly told: number };

const none: Ends = { due: 0, any: 0, told: 0 };

export class EndChecker {
  readonly #options: CheckerOptions;
  readonly #ends = new Map<string, Ends>();

  constructor(options: CheckerOptions) {
    this.#options = options;
  }

  workspace({ before, after }: Change): void {
    const [old, now] = [(before ?? {}) as StoredWorkspace, (after ?? {}) as StoredWorkspace];
    if (now.sandbox?.state !== 'stopped' || old.sandbox === undefined || old.sandbox.state === 'stopped')
      return;
    // The start of one that was never ready fails for its caller.
    const due = old.sandbox.readyAt === undefined ? 0 : 1;
    for (const session of now.users ?? []) this.#count(session, { due, any: 1 });
  }

  told(session: string): void {
    this.#count(session, { told: 1 });
    const { any, told } = this.#ends.get(session) ?? none;
    if (told > any)
      this.#options.sim.violate('L9: a session is told once of an end', `${session}: ${told} of ${any}`);
  }

  /** Nothing fails any more. */
  atRest(): void {
    for (const [id, { due, told }] of this.#ends) {
      const session = sessionOf(this.#options.table, id);
      if (session === undefined || isEnded(session.status) || told >= due) continue;
      this.#options.sim.violate(
        'L9: a session is told of each end of its sandbox',
        `${id}: ${told} of ${due}`,
      );
    }
  }

  #count(session: string, more: Partial<Ends>): void {
    const { due, any, told } = this.#ends.get(session) ?? none;
    this.#ends.set(session, {
      due: due + (more.due ?? 0),
      any: any + (more.any ?? 0),
      told: told + (more.told ?? 0),
    });
  }
}
