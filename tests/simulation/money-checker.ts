/**
 * Checker of the money that session trees spend, with every write (docs/spec/sessions.md, "Money"). A model call never
 * costs more than it reserved, so that a tree never passes its limit (TM1), unless its root had before its first child. A tree has spent the cost of its
 * sessions, whichever function dies (TM4): a call that is paid and not written is in neither.
 */
import type { Session } from '#shared/domain/session.ts';
import type { Reservation, Tree } from '#shared/domain/tree-budget.ts';
import type { CheckerOptions } from './checker-options.ts';
import type { Change } from './memory-table.ts';
import { childrenOf, sessionOf, stateOf, treeItemOf } from './stored.ts';

/** Sums of fractions. */
const closeUsd = 1e-9;

const idOf = ({ pk }: Change): string => pk.slice('SESSION#'.length);

export class MoneyChecker {
  readonly #options: CheckerOptions;
  /** Dollars that the root of each tree had spent before it. */
  readonly #begunAt = new Map<string, number>();

  /** Dollars that each tree has spent or may have spent. */
  readonly #countedUsd = new Map<string, number>();

  constructor(options: CheckerOptions) {
    this.#options = options;
  }

  #violate(checker: string, what: string): void {
    this.#options.sim.violate(checker, what);
  }

  wrote(changes: readonly Change[]): void {
    const roots = new Set<string>();
    for (const change of changes.filter(({ pk }) => pk.startsWith('SESSION#'))) {
      const session = change.after as Session | undefined;
      if (change.sk === 'TREE') roots.add(idOf(change));
      if (change.sk === 'TREE') this.#granted(change);
      if (change.sk === 'META') roots.add(session?.tree?.root ?? idOf(change));
      if (change.sk === 'TURN') this.#thought(change, changes);
    }
    for (const root of roots) this.#tree(root);
  }

  #tree(root: string): void {
    const { table, tree: bounds } = this.#options;
    const tree = treeItemOf(table, root);
    const top = sessionOf(table, root);
    if (tree === undefined || top === undefined) return;
    const begunAt = this.#begunAt.get(root) ?? tree.spentUsd;
    this.#begunAt.set(root, begunAt);
    if (tree.spentUsd > Math.max(begunAt, bounds.costUsdMax) + closeUsd)
      this.#violate('TM1: a tree spends its limit at most', `${root}: ${tree.spentUsd}`);
    this.#uncounted(root, tree);
    const children = childrenOf(table, root);
    // The cost of a forgotten session cannot be added up any more.
    if (children.length < tree.agents - 1) return;
    const spentUsd = [top, ...children].reduce((sum, { costUsd }) => sum + costUsd, 0);
    if (Math.abs(spentUsd - tree.spentUsd) > closeUsd)
      this.#violate(
        'TM4: what an answer cost is counted once',
        `${root}: ${tree.spentUsd}, its sessions ${spentUsd}`,
      );
  }

  /** All that a tree has granted is spent, reserved, unsettled or given back: a part of it that vanishes could be granted again. */
  #uncounted(root: string, { spentUsd, unsettledUsd = 0, reserved }: Tree): void {
    const before = this.#countedUsd.get(root) ?? 0;
    const now = spentUsd + unsettledUsd;
    this.#countedUsd.set(root, now);
    const reservedUsd = Object.values(reserved).reduce((sum, { usd }) => sum + usd, 0);
    if (now < before - closeUsd)
      this.#violate('TM7: what may be charged for stays counted', `${root}: ${before}, then ${now}`);
    if (now + reservedUsd > Math.max(this.#begunAt.get(root) ?? 0, this.#options.tree.costUsdMax) + closeUsd)
      this.#violate('TM7: a tree grants its limit at most', `${root}: ${now}, reserved ${reservedUsd}`);
  }

  /** With a new reservation older ones go whose calls may have been made: their money stays counted. */
  #granted({ pk, before, after }: Change): void {
    const [was, is] = [before as Tree | undefined, after as Tree | undefined];
    if (was === undefined || is === undefined) return;
    const isKept = ([id, { call }]: [string, Reservation]): boolean => is.reserved[id]?.call === call;
    const isGranted = Object.entries(is.reserved).some(([id, { call }]) => was.reserved[id]?.call !== call);
    if (!isGranted) return;
    const gone = Object.entries(was.reserved).filter((entry) => !isKept(entry));
    const goneUsd = gone.reduce((sum, [, { usd }]) => sum + usd, 0);
    if ((is.unsettledUsd ?? 0) - (was.unsettledUsd ?? 0) < goneUsd - closeUsd)
      this.#violate(
        'TM7: the money of a call that may have been made is not granted again',
        `${pk}: ${goneUsd}`,
      );
  }

  /** A model has answered or failed: its call was reserved until then, and is no more. */
  #thought(change: Change, changes: readonly Change[]): void {
    const [before, state] = [stateOf(change.before), stateOf(change.after)];
    if (before.kind !== 'thinking' || change.after === undefined) return;
    // A withdrawn grant: its model is asked all the same.
    if (state.kind === 'thinking' && state.turnId === before.turnId && state.step === before.step) return;
    // A turn that no function continues fails without a call of the model.
    const unasked = ['cancelled', 'budget_exceeded', 'error'];
    if (state.kind === 'done' && unasked.includes(state.stopReason)) return;
    const { table } = this.#options;
    const id = idOf(change);
    const root = sessionOf(table, id)?.tree?.root ?? id;
    const now = treeItemOf(table, root);
    if (now === undefined) return;
    const written = changes.find(({ pk, sk }) => pk === `SESSION#${root}` && sk === 'TREE');
    const old = (written === undefined ? now : written.before) as Tree | undefined;
    if (old?.reserved[id] === undefined)
      this.#violate('TM1: a model is asked under a reservation', `${id} of ${root}`);
    if (now.reserved[id] !== undefined)
      this.#violate('TM4: an answer takes the place of its reservation', `${id} of ${root}`);
  }
}
