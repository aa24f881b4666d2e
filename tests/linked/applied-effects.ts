/**
 * The claim that applying the effect of a command equals running it, tried with generated commands: each runs in a trial,
 * whose difference is applied to a live sandbox, and runs itself in a third one. All began with the same saved files.
 */
import { isDeepStrictEqual } from 'node:util';
import type { WorkspaceBucket } from '#shared/adapters/aws/workspace-bucket.ts';
import type { ManifestRef } from '#shared/domain/checkpoint.ts';
import { generatedCommands } from './generated-commands.ts';
import { type LinkedSandbox, openSandbox, outline } from './linked-sandbox.ts';

/** Commands that follow each other in the same three sandboxes. */
const batchSize = 25;

type Difference = {
  readonly command: string;
  readonly applied: readonly unknown[];
  readonly run: readonly unknown[];
  /** Entries that the application named as not written. */
  readonly missing: readonly unknown[];
};
export type Tally = {
  readonly compared: number;
  /** Commands that changed a file. */
  readonly changing: number;
  /** Commands that left what cannot be saved: no trial of them counts. */
  readonly refused: number;
  readonly differences: readonly Difference[];
};

const none: Tally = { compared: 0, changing: 0, refused: 0, differences: [] };
const plus = (one: Tally, other: Tally): Tally => ({
  compared: one.compared + other.compared,
  changing: one.changing + other.changing,
  refused: one.refused + other.refused,
  differences: [...one.differences, ...other.differences],
});

/** Until `count` commands were compared. */
export const tallyEffects = async (
  bucket: WorkspaceBucket,
  options: { readonly count: number; readonly seed: number; readonly progress?: (done: number) => void },
): Promise<Tally> => {
  const commands = generatedCommands(2 * options.count, options.seed);
  let tally = none;
  for (let at = 0; at < commands.length && tally.compared < options.count; ) {
    const batch = await tallyBatch(bucket, commands.slice(at, at + batchSize));
    at += batch.compared + batch.refused;
    tally = plus(tally, batch);
    options.progress?.(tally.compared);
  }
  return tally;
};

/** Ends early where the three are no longer alike: at a difference, and where a trial does not count. */
const tallyBatch = async (bucket: WorkspaceBucket, commands: readonly string[]): Promise<Tally> => {
  const sandboxes = await Promise.all([openSandbox(bucket), openSandbox(bucket), openSandbox(bucket)]);
  const [trial, live, direct] = sandboxes;
  let tally = none;
  let before: ManifestRef | undefined;
  try {
    for (const command of commands) {
      await Promise.all([trial, direct].map((sandbox) => sandbox.callTool('execute_command', { command })));
      const after = await savedState(trial, before);
      if (after === 'left out') return plus(tally, { ...none, refused: 1 });
      const applied = await live.apply({ ...(before && { before }), ...(after && { after }) });
      if (applied.status !== 'applied') throw new Error(JSON.stringify(applied));
      const difference = await differenceOf(live, direct);
      const differences =
        difference === undefined ? [] : [{ command, ...difference, missing: applied.missing }];
      tally = plus(tally, { compared: 1, changing: after === before ? 0 : 1, refused: 0, differences });
      if (difference !== undefined) return tally;
      before = after;
    }
    return tally;
  } finally {
    await Promise.all(sandboxes.map((sandbox) => sandbox.close()));
  }
};

const savedState = async (
  sandbox: LinkedSandbox,
  base: ManifestRef | undefined,
): Promise<ManifestRef | undefined | 'left out'> => {
  const saved = await sandbox.save(base);
  if (saved.status === 'refused') throw new Error(JSON.stringify(saved));
  if (saved.leftOut.length > 0) return 'left out';
  return saved.status === 'saved' ? saved.manifest : base;
};

/** Without times: they are those of another clock. */
const differenceOf = async (live: LinkedSandbox, direct: LinkedSandbox) => {
  const [applied, run] = await Promise.all(
    [live, direct].map(async ({ folder }) =>
      (await outline(folder)).map(({ modifiedAt: _time, ...entry }) => entry),
    ),
  );
  const only = (these: typeof run = [], those: typeof run = []) =>
    these.filter((one) => !those.some((other) => isDeepStrictEqual(one, other)));
  const left = { applied: only(applied, run), run: only(run, applied) };
  return left.applied.length + left.run.length === 0 ? undefined : left;
};
