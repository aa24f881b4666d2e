/**
 * That what has work to do is woken for it: at once in a world where no wake-up is lost or late, by the janitor within its
 * 75 s in any other in which the janitor works, and in every world once nothing fails any more. A parent hears soon of a
 * child that answers: by the child's wake, not by the look that it takes now and then by itself.
 */
import type { SessionId } from '#shared/domain/ids.ts';
import { isEnded } from '#shared/domain/session.ts';
import { callsWithChildren, pendingWork } from '#shared/domain/turn/pending-work.ts';
import type { CheckerOptions } from './checker-options.ts';
import type { LogChecker } from './log-checker.ts';
import { inboxOf, isAtRest, isOfNewerVersion, sessionOf, turnOf } from './stored.ts';

/** A wake, a lease and a read; far below the first look that a parent takes by itself. */
const hearMs = 20_000;
/** A child active this lately is looked at again after its next completion. Two clocks may differ by less. */
const movedMs = 10_000;
/** Work waits no longer than this where wake-ups come at once. */
const promptMs = 5000;
/** `redriveAfterMs` and the minute between two sweeps; an index that is late, two clocks, and the sweep itself. */
const janitorMs = 75_000 + 5000 + 4000 + 3000;
/** When faults end a sweep may just have put a session off, and its wake-up was lost: it comes 30 s later again. */
const afterFaultsMs = janitorMs + 30_000;

type Waiting = { since: number };

export class WakeChecker {
  readonly #options: CheckerOptions;
  readonly #log: LogChecker;
  /** Sessions with work that no lease is held for, or will be held for no more at that moment. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #isPrompt: boolean;
  readonly #isSwept: boolean;

  constructor(options: CheckerOptions, log: LogChecker) {
    this.#options = options;
    this.#log = log;
    const { death, refused, answerLost, slow, wakeLost, wakeLate, postFails, ...others } = options.sim.faults;
    const { paused, throttled, conflict, tornMsMax, saveLong, restoreLong, sentTwice } = others;
    const isJanitorWell = death + refused + answerLost + slow + paused + throttled + conflict === 0;
    const { isOrdered } = options.sim.pace;
    // A janitor whose claim is sent again takes it for another's, and leaves the session to the next sweep.
    this.#isSwept = isJanitorWell && sentTwice === 0 && !options.isCrowded;
    this.#isPrompt =
      isJanitorWell &&
      wakeLost + wakeLate + postFails + tornMsMax + saveLong + restoreLong === 0 &&
      !isOrdered &&
      !options.isCrowded;
    if (this.#isPrompt) options.sim.coverage.hit('world/prompt');
  }

  /** Its record, its inbox or its turn was written. */
  wrote(id: string): void {
    const { sim, table } = this.#options;
    const freeAt = this.#hasWork(id)
      ? Number(table.get(`SESSION#${id}`, 'META')?.['leaseUntil'] ?? 0)
      : undefined;
    const known = this.#waiting.get(id);
    if (freeAt === undefined) {
      this.#waiting.delete(id);
      return;
    }
    if (freeAt <= sim.now() && known !== undefined && known.since <= sim.now()) return;
    const waiting = { since: Math.max(freeAt, sim.now()) };
    this.#waiting.set(id, waiting);
    this.#lookAfter(id, waiting, this.#boundMs());
  }

  /** One wake-up was lost or is late: the janitor's time begins again, since it is another one that it makes up for. */
  woken(id: string, inMs: number): void {
    if (this.#isPrompt || !this.#waiting.has(id)) return;
    const waiting = { since: this.#options.sim.now() + inMs };
    this.#waiting.set(id, waiting);
    this.#lookAfter(id, waiting, this.#boundMs());
  }

  #hasWork(id: string): boolean {
    const { table } = this.#options;
    const session = sessionOf(table, id);
    if (session === undefined || isEnded(session.status) || isOfNewerVersion(session)) return false;
    const state = turnOf(table, id);
    if (pendingWork(state).length > 0) return true;
    return isAtRest(state) && inboxOf(table, id).length > 0;
  }

  #boundMs(): number {
    if (this.#isPrompt) return promptMs;
    return this.#isSwept ? janitorMs : afterFaultsMs;
  }

  #lookAfter(id: string, waiting: Waiting, boundMs: number): void {
    const { sim } = this.#options;
    sim.after(waiting.since + boundMs - sim.now(), () => this.#lookAt(id, waiting, boundMs));
  }

  #lookAt(id: string, waiting: Waiting, boundMs: number): void {
    const { sim, isCrowded } = this.#options;
    if (this.#waiting.get(id) !== waiting) return;
    // Faults that keep the janitor away end some time: it counts from then on.
    const countsFrom = this.#isSwept ? waiting.since : Math.max(waiting.since, sim.calmSince);
    if (isCrowded || sim.now() < countsFrom + boundMs) {
      if (!isCrowded)
        sim.after(Math.max(promptMs, countsFrom + boundMs - sim.now()), () =>
          this.#lookAt(id, waiting, boundMs),
        );
      return;
    }
    const seconds = Math.round((sim.now() - waiting.since) / 1000);
    sim.violate(
      this.#isPrompt ? 'where wake-ups come at once no work waits' : 'a lost wake-up is found by the janitor',
      `${id}: ${turnOf(this.#options.table, id).kind} for ${seconds} s`,
    );
  }

  /** A session has completed a message. */
  completed(id: string): void {
    const { sim, table } = this.#options;
    const parent = sessionOf(table, id)?.tree?.parent;
    if ((this.#isPrompt || sim.isCalm) && parent !== undefined)
      sim.after(hearMs, () => this.#lookAtParent(id, parent));
  }

  /** `wasFree`: no function held it at the look before. */
  #lookAtParent(id: string, parentId: SessionId, wasFree = false): void {
    const { sim, table } = this.#options;
    const [child, parent] = [sessionOf(table, id), sessionOf(table, parentId)];
    if (child === undefined || parent === undefined || isEnded(parent.status)) return;
    if (child.status === 'running' || child.lastActiveAt > sim.now() - movedMs) return;
    const { leaseHolder, leaseUntil } = table.get(`SESSION#${parentId}`, 'META') ?? {};
    if (Number(leaseUntil) > sim.now() - movedMs) {
      sim.after(movedMs, () => this.#lookAtParent(id, parentId));
      return;
    }
    // No holder let go of it: one died before, when functions still did, and the janitor comes.
    if (leaseHolder !== '') return;
    // One may have let go of it this moment, and invoked the next.
    if (!wasFree) {
      sim.after(promptMs, () => this.#lookAtParent(id, parentId, true));
      return;
    }
    for (const { callId, wait } of callsWithChildren(turnOf(table, parentId))) {
      const { session, message } = wait.child;
      if (session === id && this.#log.answerOf(id, message) !== undefined)
        sim.violate('CH3: a child that answers wakes its parent', `${parentId}: ${callId}`);
    }
  }
}
