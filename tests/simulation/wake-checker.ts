/**
 * That a parent hears soon of a child that answers: by the child's wake, not by the look that it takes now and then by
 * itself. Looked at where no function dies and none is late; a parent that is at something else hears of it after that.
 */
import type { SessionId } from '#shared/domain/ids.ts';
import { isEnded } from '#shared/domain/session.ts';
import { callsWithChildren } from '#shared/domain/turn/pending-work.ts';
import type { CheckerOptions } from './checker-options.ts';
import type { LogChecker } from './log-checker.ts';
import { sessionOf, turnOf } from './stored.ts';

/** A wake, a lease and a read; far below the first look that a parent takes by itself. */
const hearMs = 20_000;
/** A child active this lately is looked at again after its next completion. Two clocks may differ by less. */
const movedMs = 10_000;

export class WakeChecker {
  readonly #options: CheckerOptions;
  readonly #log: LogChecker;

  constructor(options: CheckerOptions, log: LogChecker) {
    this.#options = options;
    this.#log = log;
  }

  /** A session has completed a message. */
  completed(id: string): void {
    const { sim, table } = this.#options;
    const { death, refused, answerLost, slow, wakeLost, wakeLate, postFails } = sim.faults;
    const isPrompt = death + refused + answerLost + slow + wakeLost + wakeLate + postFails === 0;
    const parent = sessionOf(table, id)?.tree?.parent;
    if (isPrompt && parent !== undefined) sim.after(hearMs, () => this.#look(id, parent));
  }

  #look(id: string, parentId: SessionId): void {
    const { sim, table } = this.#options;
    const [child, parent] = [sessionOf(table, id), sessionOf(table, parentId)];
    if (child === undefined || parent === undefined || isEnded(parent.status)) return;
    if (child.status === 'running' || child.lastActiveAt > sim.now() - movedMs) return;
    const { leaseHolder, leaseUntil } = table.get(`SESSION#${parentId}`, 'META') ?? {};
    if (Number(leaseUntil) > sim.now() - movedMs) {
      sim.after(movedMs, () => this.#look(id, parentId));
      return;
    }
    // Nobody let go of it: its holder died before, when functions still did, and the janitor comes.
    if (leaseHolder !== '') return;
    for (const { callId, wait } of callsWithChildren(turnOf(table, parentId))) {
      const { session, message } = wait.child;
      if (session === id && this.#log.answerOf(id, message) !== undefined)
        sim.violate('CH3: a child that answers wakes its parent', `${parentId}: ${callId}`);
    }
  }
}
