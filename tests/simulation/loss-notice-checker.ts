/**
 * Losses of starts, as agents are told of them: the first output of a call in that sandbox, or in a later one, comes with them or
 * after them, whoever made it ready (L15).
 */
import { messageJson } from '#shared/adapters/aws/dynamo/history-items.ts';
import type { TurnState } from '#shared/domain/turn/turn.ts';
import type { CheckerOptions } from './checker-options.ts';
import type { Change } from './memory-table.ts';
import { callsOf, type StoredWorkspace } from './stored.ts';
import type { Turned } from './tree-checker.ts';

/** Of the notice that a model reads. */
const said = 'The sandbox before this one was lost';

export class LossNoticeChecker {
  readonly #options: CheckerOptions;
  /** The generation whose start lost something, by a session that was not told yet. */
  readonly #owed = new Map<string, number>();

  constructor(options: CheckerOptions) {
    this.#options = options;
  }

  workspace({ before, after }: Change): void {
    const [old, { sandbox, users = [] }] = [
      (before ?? {}) as StoredWorkspace,
      (after ?? {}) as StoredWorkspace,
    ];
    if (old.sandbox?.state !== 'starting' || sandbox?.state !== 'ready' || sandbox.lost === undefined) return;
    this.#options.sim.coverage.hit('sandbox/ready after a loss');
    for (const user of users) this.#owed.set(user, sandbox.generation);
  }

  turn(id: string, { old, state, events }: Turned, changes: readonly Change[]): void {
    const owed = this.#owed.get(id);
    if (owed === undefined) return;
    if (isSaid(state, changes)) {
      this.#owed.delete(id);
      this.#options.sim.coverage.hit('sandbox/an agent was told of a loss');
      return;
    }
    for (const event of events) {
      if (event.type !== 'tool:output' || generationOf(old, event.data.callId) < owed) continue;
      this.#options.sim.violate(
        'L15: an agent is told what its sandbox lost at its start',
        `${id}: ${event.data.callId} in a sandbox of generation ${owed} or later`,
      );
    }
  }
}

/** Of a call that ran in the session's sandbox; none otherwise. */
const generationOf = (state: TurnState, callId: string): number => {
  const call = callsOf(state).find((one) => one.callId === callId);
  const isInside = call?.route === undefined || call.route.kind === 'stdio';
  return isInside && call?.trial?.state !== 'tried' ? (call?.generation ?? 0) : 0;
};

/** A long message is written with its parts, in one transaction. */
const isSaid = (state: TurnState, changes: readonly Change[]): boolean => {
  if (JSON.stringify(state).includes(said)) return true;
  const items = changes.flatMap(({ after }) => (after === undefined ? [] : [after]));
  return changes.some(
    ({ sk, after }) =>
      sk.startsWith('MESSAGE#') && after !== undefined && messageJson(after, items).includes(said),
  );
};
