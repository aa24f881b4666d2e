/**
 * Grants, with every write: one that was withdrawn is in force no more, in the session whose log says so and, once the withdrawal
 * is answered, in those that it had under it; nor does a call that it allowed start (docs/spec/approvals.md).
 */
import type { LogEvent } from '#shared/domain/event-log.ts';
import { isEnded } from '#shared/domain/session.ts';
import { grantsInForce } from '#shared/domain/turn/approval-policy.ts';
import { asksChild, type ToolCall } from '#shared/domain/turn/tool-call.ts';
import type { CheckerOptions } from './checker-options.ts';
import { callsOf, sessionOf, turnOf } from './stored.ts';

export class GrantChecker {
  readonly #options: CheckerOptions;
  /** By session. */
  readonly #withdrawn = new Map<string, Set<string>>();
  /** Keys of calls that had started when their grant was withdrawn: these go on. */
  readonly #started = new Map<string, Set<string>>();

  constructor(options: CheckerOptions) {
    this.#options = options;
  }

  said(id: string, { type, data }: LogEvent): void {
    if (type !== 'system' || data.kind !== 'grant_withdrawn') return;
    this.#options.sim.coverage.hit('grant/withdrawn');
    this.#note(id, String(data['grantId']));
  }

  /** These were there before it was asked for. */
  withdrawn(grant: string, sessions: readonly string[]): void {
    for (const id of sessions) {
      this.#note(id, grant);
      this.wrote(id);
    }
  }

  wrote(id: string): void {
    const withdrawn = this.#withdrawn.get(id);
    const { table, sim } = this.#options;
    const session = withdrawn && sessionOf(table, id);
    // One that has ended runs nothing, and is resumed without grants.
    if (withdrawn === undefined || session === undefined || isEnded(session.status)) return;
    const state = turnOf(table, id);
    for (const grant of grantsInForce(session, { state }))
      if (withdrawn.has(grant.id)) sim.violate('a withdrawn grant is in force no more', `${id}: ${grant.id}`);
    for (const { key, grant, status } of callsOf(state)) {
      if (grant === undefined || !withdrawn.has(grant)) continue;
      const isOpen = status === 'approved' || status === 'executing';
      if (isOpen && !this.#started.get(id)?.has(key))
        sim.violate('a withdrawn grant starts no call', `${id}: ${key} is ${status}`);
    }
  }

  /** The write that says so has the turn after it. A child is asked before its call is recorded as begun. */
  #note(id: string, grant: string): void {
    this.#withdrawn.set(id, (this.#withdrawn.get(id) ?? new Set()).add(grant));
    const started = this.#started.get(id) ?? new Set();
    const state = turnOf(this.#options.table, id);
    const mayAsk = (call: ToolCall): boolean =>
      state?.kind === 'acting' && call.status === 'approved' && asksChild(call);
    for (const call of callsOf(state))
      if (call.grant === grant && (call.status === 'executing' || mayAsk(call))) started.add(call.key);
    this.#started.set(id, started);
  }
}
