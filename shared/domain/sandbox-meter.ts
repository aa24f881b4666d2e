/**
 * The seconds of sandboxes in the slices that pay for them: whether one may be started, and when those that live have used up what is left.
 *
 * Several sandboxes of a branch use its slice at once, so that nothing is reserved: what lives counts up to now. A slice without a limit
 * of sandbox time counts none (docs/spec/sessions.md: TM10).
 */
import type { SessionId } from './ids.ts';
import type { Tree } from './tree-budget.ts';
import { type Slice, sandboxMsLeft } from './tree-slice.ts';

/** The slices that pay for what a session starts, in its tree. */
export type Payers = { readonly root: SessionId; readonly slices: readonly SessionId[] };

/** Of a sandbox: the slices that count its time. */
export type SandboxMeter = Payers & {
  /** Its beginning, in epoch milliseconds. */
  readonly since: number;
  /** The time that was left then. */
  readonly restMs: number;
};

/** For a sandbox that begins at `at`. Undefined: no slice bounds it. A slice that is not written yet pays for nothing. */
export const meterFor = (
  tree: Tree | undefined,
  { root, slices }: Payers,
  at: number,
): SandboxMeter | 'spent' | undefined => {
  const found = slices.map((id) => ({ id, slice: tree?.slices?.[id] }));
  if (found.some(({ slice }) => slice === undefined)) return 'spent';
  const counting = found.filter(({ slice }) => slice?.sandboxMsMax !== undefined);
  if (counting.length === 0) return undefined;
  const restMs = Math.min(...counting.map(({ slice }) => (slice ? sandboxMsLeft(slice, at) : 0)));
  return restMs <= 0 ? 'spent' : { root, slices: counting.map(({ id }) => id), since: at, restMs };
};

/** The time at which the first of its slices is used up, if all sandboxes that live go on and no other begins. */
export const usedUpAt = (tree: Tree | undefined, { slices }: Payers, at: number): number =>
  Math.min(
    ...slices.map((id) => {
      const slice = tree?.slices?.[id];
      return slice === undefined ? Number.POSITIVE_INFINITY : at + lastsMs(slice, at);
    }),
  );

const lastsMs = (slice: Slice, at: number): number =>
  sandboxMsLeft(slice, at) / Math.max(1, Object.keys(slice.sandboxes ?? {}).length);
