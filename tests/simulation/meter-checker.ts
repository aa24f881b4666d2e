/**
 * The time of sandboxes in slices, with every write: each life is counted once in each slice that pays for it, from the claim to the stop, and
 * none begins where a slice has no time left (TM10).
 */
import { isPoolEntry } from '#shared/domain/pool.ts';
import { type SandboxRecord, startToken } from '#shared/domain/sandbox.ts';
import type { SandboxMeter } from '#shared/domain/sandbox-meter.ts';
import { slicesOf, treeOf } from '#shared/domain/session.ts';
import type { Tree } from '#shared/domain/tree-budget.ts';
import { type Slice, sandboxMsLeft } from '#shared/domain/tree-slice.ts';
import type { CheckerOptions } from './checker-options.ts';
import type { Change, Item } from './memory-table.ts';
import { isOfNewerVersion, sessionOf, treeItemOf } from './stored.ts';

const sandboxOf = (item: Item | undefined): SandboxRecord | undefined =>
  (item as { readonly sandbox?: SandboxRecord } | undefined)?.sandbox;

const treeAt = (item: Item | undefined): Tree | undefined => item as unknown as Tree | undefined;

const isBounded = (slice: Slice | undefined): slice is Slice => slice?.sandboxMsMax !== undefined;

export class MeterChecker {
  readonly #options: CheckerOptions;
  /** Of sandboxes that are counted and live, by name. */
  readonly #lives = new Map<string, SandboxMeter>();
  /** Milliseconds of those that are over, by slice. */
  readonly #overMs = new Map<string, number>();

  constructor(options: CheckerOptions) {
    this.#options = options;
  }

  wrote(changes: readonly Change[]): void {
    const trees = new Map(
      changes.filter(({ sk }) => sk === 'TREE').map((change) => [change.pk.slice('SESSION#'.length), change]),
    );
    for (const change of changes)
      if (change.sk === 'META' && change.pk.startsWith('WORKSPACE#')) this.#workspace(change, trees);
    for (const [root, { after }] of trees) this.#sums(root, treeAt(after));
  }

  #workspace({ pk, before, after }: Change, trees: ReadonlyMap<string, Change>): void {
    const id = pk.slice('WORKSPACE#'.length);
    if (isPoolEntry(id as never) || (after !== undefined && isOfNewerVersion(after))) return;
    const [was, is] = [sandboxOf(before), sandboxOf(after)];
    const nameOf = ({ generation }: SandboxRecord): string => startToken(id as never, generation);
    if (was !== undefined && (is?.generation !== was.generation || is.state === 'stopped'))
      this.#ended(nameOf(was), is?.generation === was.generation ? is.stoppedAt : undefined);
    if (is !== undefined && is.generation !== was?.generation) this.#began(nameOf(is), is, trees);
  }

  #began(name: string, { meter, slot, state }: SandboxRecord, trees: ReadonlyMap<string, Change>): void {
    if (state !== 'starting') return;
    if (meter === undefined) {
      this.#uncounted(name, slot?.session);
      return;
    }
    this.#lives.set(name, meter);
    const before = treeAt(trees.get(meter.root)?.before);
    for (const id of meter.slices) {
      const slice = before?.slices?.[id];
      this.#options.sim.coverage.hit('meter/begun');
      if (slice === undefined || sandboxMsLeft(slice, meter.since) <= 0)
        this.#violate('TM10: no sandbox begins where its slice has no time left', `${name} of ${id}`);
    }
  }

  #uncounted(name: string, starter: string | undefined): void {
    const { table } = this.#options;
    const session = starter === undefined ? undefined : sessionOf(table, starter);
    const root = session && treeOf(session);
    const slices = root === undefined ? {} : (treeItemOf(table, root)?.slices ?? {});
    if (session !== undefined && slicesOf(session)?.some((id) => isBounded(slices[id])))
      this.#violate('TM10: a sandbox of a bounded branch is counted', `${name} of ${starter}`);
  }

  #ended(name: string, at: number | undefined): void {
    const meter = this.#lives.get(name);
    if (meter === undefined) return;
    this.#lives.delete(name);
    const ms = Math.max(0, (at ?? meter.since) - meter.since);
    for (const id of meter.slices) this.#overMs.set(id, (this.#overMs.get(id) ?? 0) + ms);
  }

  #sums(root: string, tree: Tree | undefined): void {
    for (const [id, slice] of Object.entries(tree?.slices ?? {})) {
      if (!isBounded(slice)) continue;
      const lives = [...this.#lives].filter(
        ([, meter]) => meter.root === root && (meter.slices as readonly string[]).includes(id),
      );
      const named = Object.keys(slice.sandboxes ?? {});
      if (
        named.toSorted().join() !==
        lives
          .map(([name]) => name)
          .toSorted()
          .join()
      )
        this.#violate('TM10: a slice names the sandboxes that live', `${id}: ${named}`);
      const overMs = this.#overMs.get(id) ?? 0;
      if (overMs > 0) this.#options.sim.coverage.hit('meter/counted');
      if ((slice.sandboxMs ?? 0) !== overMs)
        this.#violate('TM10: each life is counted once', `${id}: ${slice.sandboxMs}, not ${overMs}`);
    }
  }

  #violate(checker: string, what: string): void {
    this.#options.sim.violate(checker, what);
  }
}
