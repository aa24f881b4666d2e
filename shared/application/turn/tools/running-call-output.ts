/**
 * Keeps the output of a turn's running calls: in memory for a call that this function sees fail, and in the table for one that
 * loses its function or that a client cancels. Best effort: a short call costs no write.
 */

import type { SessionId } from '../../../domain/ids.ts';
import { printedFirstMs, printedKeptMs } from '../../../domain/limits.ts';
import { withPrinted } from '../../../domain/turn/printed.ts';
import type { ToolEffect } from '../../../domain/turn/turn.ts';
import type { Deps } from '../../deps.ts';

export type RunningCallOutput = {
  readonly push: (key: string, text: string) => void;
  /** All that it has printed so far, with what earlier functions heard. */
  readonly of: (key: string) => Promise<string>;
  /** It has a result: there is nothing to keep. */
  readonly drop: (key: string) => void;
  /** Writes what calls printed that run on. */
  readonly stop: () => Promise<void>;
};

type OutputDeps = Deps<'turns' | 'telemetry' | 'world'>;

/** The calls that an earlier function began may have printed before. */
export const openRunningCallOutput = (
  ports: OutputDeps,
  session: SessionId,
  calls: readonly Pick<ToolEffect, 'key' | 'generation'>[],
): RunningCallOutput => {
  const heard = new Map<string, string>();
  const unwritten = new Set<string>();
  const stopped = new AbortController();
  let keeping: Promise<void> | undefined;
  let earlier: Promise<Readonly<Record<string, string>>> | undefined;
  const readEarlier = () => {
    const begun = calls.filter(({ generation }) => generation !== undefined).map(({ key }) => key);
    earlier ??= begun.length === 0 ? Promise.resolve({}) : ports.turns.outputsOf(session, begun);
    return earlier;
  };
  const of = async (key: string): Promise<string> =>
    withPrinted((await readEarlier())[key] ?? '', heard.get(key) ?? '');
  const write = async (): Promise<void> => {
    const keys = [...unwritten];
    unwritten.clear();
    const at = ports.world.now();
    await Promise.all(
      keys.map(async (key) => ports.turns.keepOutput(session, { key, printed: await of(key), at })),
    );
  };
  const writeQuietly = () =>
    write().catch((error: unknown) => ports.telemetry.warn('the output of a call was not kept', { error }));
  const keep = async (): Promise<void> => {
    for (let pause = printedFirstMs; !stopped.signal.aborted; pause = printedKeptMs) {
      await ports.world.sleep(pause, stopped.signal);
      await writeQuietly();
    }
  };
  return {
    push: (key, text) => {
      heard.set(key, withPrinted(heard.get(key) ?? '', text));
      unwritten.add(key);
      keeping ??= keep();
    },
    of: (key) => of(key).catch(() => heard.get(key) ?? ''),
    drop: (key) => void unwritten.delete(key),
    stop: async () => {
      stopped.abort();
      await keeping;
    },
  };
};
