/** Sessions, with every write: numbers without gaps, statuses along their transitions. */
import { eventsPerSessionMax, redriveAfterMs } from '#shared/domain/limits.ts';
import { canBecome, isEnded, type Session } from '#shared/domain/session.ts';
import type { CheckerOptions } from './checker-options.ts';
import type { Invocation } from './invocation.ts';
import type { Change, Item } from './memory-table.ts';
import { inboxOf, isAtRest, turnOf } from './stored.ts';

/** The error of a clock, and the time after which a turn that was handed over is looked at. */
const skewMs = 4000 + redriveAfterMs;

export class SessionChecker {
  readonly #options: CheckerOptions;
  readonly #leases = new WeakMap<Invocation, Map<string, number>>();

  constructor(options: CheckerOptions) {
    this.#options = options;
  }

  #violate(checker: string, what: string): void {
    this.#options.sim.violate(checker, what);
  }

  /** Of the lease that a function took last; undefined for one that took none. */
  fenceOf(by: Invocation, id: string): number | undefined {
    return this.#leases.get(by)?.get(id);
  }

  /** T14. */
  numbers(id: string, events: readonly Change[], meta: Change | undefined): void {
    if (events.some(({ before }) => before !== undefined))
      this.#violate('T14: an event number is used once', id);
    if (meta?.after === undefined || meta.before === undefined) {
      if (events.length > 0) this.#violate('T14: events move lastSeq', id);
      return;
    }
    const [last, next] = [Number(meta.before['lastSeq']), Number(meta.after['lastSeq'])];
    const numbers = events.map(({ after }) => Number(after?.['seq']));
    const isWhole = numbers.every((seq, index) => seq === last + 1 + index) && next === last + numbers.length;
    if (events.length > 0) this.#ring(id, next);
    if (!isWhole)
      this.#violate('T14: no event number is left out', `${id}: ${last} → ${numbers.join()} → ${next}`);
  }

  /** The log keeps its newest events, and drops no other. */
  #ring(id: string, last: number): void {
    const oldest = last - eventsPerSessionMax + 1;
    if (oldest < 0) return;
    this.#options.sim.coverage.hit('session/ring');
    const sk = `EVENT#${String(oldest).padStart(12, '0')}`;
    if (this.#options.table.get(`SESSION#${id}`, sk) === undefined)
      this.#violate('T14: the newest events are kept', `${id}: ${oldest} of ${last}`);
  }

  meta(id: string, { before, after }: Change, by: Invocation): void {
    if (after === undefined) return;
    const session = after as unknown as Session;
    const status = before?.['status'] as Session['status'] | undefined;
    this.#status(id, status, session.status);
    const isHeld = after['leaseHolder'] !== '';
    if (!isHeld && before !== undefined && Number(before['lastActiveAt']) < session.lastActiveAt)
      this.#active(id, session);
    if (after['leaseHolder'] === '' && Number(after['leaseUntil']) > 0)
      this.#violate('a lease that was given back is not renewed', id);
    if (after['leaseFence'] !== before?.['leaseFence'] && before !== undefined) {
      const own = this.#leases.get(by) ?? new Map<string, number>();
      this.#leases.set(by, own.set(id, Number(after['leaseFence'])));
    }
    const counted = Number(after['inboxMessages'] ?? 0);
    if (counted !== this.#waiting(id).length)
      this.#violate('WS6: a session counts its waiting messages', `${id}: ${counted}`);
    if (isEnded(session.status) && status !== undefined && !isEnded(status)) this.#ended(id);
    const waiting = session.status === 'idle' ? this.#waiting(id) : [];
    if (waiting.length > 0)
      this.#violate('a session with a message that waits is running', `${id}: ${waiting[0]?.['messageId']}`);
  }

  /** Its sandbox would run on for nobody until the session is forgotten. */
  #active(id: string, { kind, status, trialOf, idleMs, lastActiveAt, dueAt = 0 }: Session): void {
    if (kind !== 'agent' || isEnded(status) || trialOf !== undefined) return;
    // A function that stood still may write late: its session is looked at soon then.
    const idleAt = Math.max(this.#options.sim.now(), lastActiveAt + (idleMs ?? this.#options.idleMs));
    if (dueAt > idleAt + skewMs)
      this.#violate(
        'an active session is looked at when its idle time is over',
        `${id}: ${dueAt - idleAt} ms later`,
      );
  }

  #waiting(id: string): readonly Item[] {
    return inboxOf(this.#options.table, id);
  }

  #status(id: string, before: Session['status'] | undefined, now: Session['status']): void {
    if (before !== now) this.#options.sim.coverage.hit(`session/${before ?? 'none'}→${now}`);
    if (before !== undefined && !canBecome(before, now))
      this.#violate('a status changes along its transitions', `${id}: ${before} → ${now}`);
  }

  #ended(id: string): void {
    const waiting = this.#waiting(id);
    if (waiting.length > 0)
      this.#violate(
        'an ended session leaves no message without its completion',
        `${id}: ${waiting[0]?.['messageId']}`,
      );
    if (!isAtRest(turnOf(this.#options.table, id))) this.#violate('an ended session has no running turn', id);
  }
}
