/**
 * Tokens and dollars of turns, with every write: an answer counts with what its model reported, once, so does the beginning of one
 * that was cut off, and a session has used what its ended turns have, whichever function dies (docs/spec/turn.md, T15).
 */
import type { LogEvent } from '#shared/domain/event-log.ts';
import type { TokenUsage } from '#shared/domain/model.ts';
import type { TurnState } from '#shared/domain/turn/turn.ts';
import type { CheckerOptions } from './checker-options.ts';
import type { Invocation } from './invocation.ts';
import type { Change } from './memory-table.ts';
import { isAtRest, isOfNewerVersion, sessionOf } from './stored.ts';

type Written = {
  readonly old: TurnState;
  readonly state: TurnState;
  readonly events: readonly LogEvent[];
};

type Used = { inputTokens: number; outputTokens: number; usd: number };

/** Sums of fractions. */
const closeUsd = 1e-9;

const nothing: TokenUsage = { inputTokens: 0, outputTokens: 0 };
const turnIdOf = (state: TurnState): string | undefined => ('turnId' in state ? state.turnId : undefined);
const isSame = (one: TokenUsage, other: TokenUsage): boolean =>
  one.inputTokens === other.inputTokens && one.outputTokens === other.outputTokens;

/** Its holder has ended the turn without an answer. */
const isCut = ({ state }: Written): boolean =>
  state.kind === 'done' && ['cancelled', 'error', 'refused'].includes(state.stopReason);

export class UsageChecker {
  readonly #options: CheckerOptions;
  /** Of answers that no write has yet, by the function that heard them. */
  readonly #reported = new WeakMap<Invocation, TokenUsage[]>();
  /** Of the answer that a function hears now. */
  readonly #begun = new WeakMap<Invocation, TokenUsage>();
  /** Of sessions, with the turn that runs. */
  readonly #used = new Map<string, Used>();

  constructor(options: CheckerOptions) {
    this.#options = options;
  }

  /** The beginning of a model's answer was heard. */
  begun(by: Invocation, usage: TokenUsage): void {
    this.#begun.set(by, usage);
  }

  /** The end of a model's answer was heard. */
  answered(by: Invocation, usage: TokenUsage): void {
    this.#begun.delete(by);
    this.#reported.set(by, [...(this.#reported.get(by) ?? []), usage]);
  }

  /** A session was made: a fork has used nothing. */
  made(id: string, { before, after }: Change): void {
    if (before !== undefined || after === undefined || isOfNewerVersion(after)) return;
    this.#used.set(id, { ...nothing, usd: 0 });
  }

  turn(id: string, written: Written, by: Invocation): void {
    const used = this.#used.get(id);
    if (used === undefined) return;
    const added = this.#added(written);
    if (added.inputTokens !== 0 || added.outputTokens !== 0) {
      if (isCut(written) && this.#wasBegun(added, by)) this.#options.sim.coverage.hit('usage/cut');
      else this.#heard(id, added, by);
      used.inputTokens += added.inputTokens;
      used.outputTokens += added.outputTokens;
      used.usd += this.#options.costOf(added);
    } else if (written.old.kind === 'thinking' && this.#isAnswered(written)) {
      this.#violate('an answer counts with what its model reported', `${id}: nothing`);
    }
    if (isAtRest(written.state)) this.#atRest(id, used);
  }

  #isAnswered({ state, events }: Written): boolean {
    const isSaid = events.some(
      ({ type, data }) => type === 'message' && !('partial' in data) && data.role === 'assistant',
    );
    return isSaid || state.kind === 'deciding' || state.kind === 'acting';
  }

  /** The tokens of a turn grow with its answers, and its completion has them all. */
  #added({ old, state, events }: Written): TokenUsage {
    const completion = events.findLast(({ type }) => type === 'completion');
    const after =
      'usage' in state ? state.usage : completion?.type === 'completion' ? completion.data.usage : nothing;
    const isNew = turnIdOf(old) !== turnIdOf(state);
    const before = !isNew && 'usage' in old ? old.usage : nothing;
    if (!('usage' in state) && completion === undefined) return nothing;
    return {
      inputTokens: after.inputTokens - before.inputTokens,
      outputTokens: after.outputTokens - before.outputTokens,
    };
  }

  #wasBegun(added: TokenUsage, by: Invocation): boolean {
    const begun = this.#begun.get(by);
    return begun !== undefined && isSame(begun, added) && this.#begun.delete(by);
  }

  #heard(id: string, added: TokenUsage, by: Invocation): void {
    const reported = this.#reported.get(by) ?? [];
    const at = reported.findIndex((usage) => isSame(usage, added));
    if (at < 0)
      this.#violate('an answer counts with what its model reported', `${id}: ${JSON.stringify(added)}`);
    this.#reported.set(by, reported.toSpliced(at, 1));
    this.#options.sim.coverage.hit('usage/counted');
  }

  #atRest(id: string, used: Used): void {
    const session = sessionOf(this.#options.table, id);
    if (session === undefined) return;
    if (!isSame(session.usage, used) || Math.abs(session.costUsd - used.usd) > closeUsd)
      this.#violate(
        'a session has used what its turns have',
        `${id}: ${JSON.stringify(session.usage)} for ${session.costUsd}, not ${JSON.stringify(used)}`,
      );
  }

  #violate(checker: string, what: string): void {
    this.#options.sim.violate(checker, what);
  }
}
