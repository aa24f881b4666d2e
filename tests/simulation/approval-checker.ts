/**
 * Approvals, with every write: the list of what waits is that of the turns that wait, and each decision is in the log and
 * on record in the write that makes it.
 */
import type { LogEvent } from '#shared/domain/event-log.ts';
import type { TurnState } from '#shared/domain/turn/turn.ts';
import { waitingCall } from '#shared/domain/turn/waiting-call.ts';
import type { CheckerOptions } from './checker-options.ts';
import type { Change } from './memory-table.ts';
import { callsOf } from './stored.ts';

type Written = {
  readonly old: TurnState;
  readonly state: TurnState;
  readonly events: readonly LogEvent[];
  /** All of the same transaction. */
  readonly changes: readonly Change[];
};

export class ApprovalChecker {
  readonly #options: CheckerOptions;

  constructor(options: CheckerOptions) {
    this.#options = options;
  }

  turn(id: string, written: Written): void {
    this.#listed(id, written.state);
    this.#decided(id, written);
  }

  /** AP1. */
  #listed(id: string, state: TurnState): void {
    const { sim, table } = this.#options;
    const waiting = waitingCall(state)?.callId;
    const listed = table.partition('WAITING').filter(({ sessionId }) => sessionId === id);
    const expected = waiting === undefined ? [] : [waiting];
    if (JSON.stringify(listed.map(({ callId }) => callId)) !== JSON.stringify(expected))
      sim.violate('AP1: the list has what waits, and nothing else', `${id}: ${expected[0]}`);
  }

  /** AP2 and AP3. */
  #decided(id: string, { old, state, events, changes }: Written): void {
    const { sim } = this.#options;
    const before = new Map(callsOf(old).map((call) => [call.key, call.status]));
    const said = events.filter((event) => event.type === 'tool:decided').map(({ data }) => data);
    for (const call of callsOf(state)) {
      const was = before.get(call.key) ?? 'pending';
      const isNew = was === 'pending' && ['approved', 'rejected'].includes(call.status);
      const decisions = said.filter(({ callId, digest }) => callId === call.callId && digest === call.digest);
      if (isNew && decisions.length !== 1)
        sim.violate('AP2: a decision is in the log, once', `${id}: ${call.key}`);
    }
    const byPeople = said.filter(({ by }) => by.kind === 'token' || by.kind === 'person');
    const rows = changes.filter(({ pk, after }) => pk.startsWith('AUDIT#') && after !== undefined);
    if (rows.length < byPeople.length)
      sim.violate('AP3: a decision is on record in the write that makes it', id);
  }
}
