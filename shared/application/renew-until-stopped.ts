/**
 * Renews at intervals until it is stopped, or lost to another holder: a lease, a claim, a session's sign of life, or the checkpoint of a
 * workspace while its programs run. A failed renewal is logged and repeated at the next interval: only the table knows that a
 * hold is lost.
 */
import type { Deps } from './deps.ts';

type Hold = {
  /** Its name in the log: `a lease`. */
  readonly name: string;
  readonly everyMs: number;
  /** False when it is lost. */
  readonly renew: () => Promise<boolean>;
  readonly onLost?: () => void;
};

/** `stop` returns when no renewal is under way; it never rejects. */
export const renewUntilStopped = (
  { telemetry, world }: Deps<'telemetry' | 'world'>,
  { name, everyMs, renew, onLost }: Hold,
): { readonly stop: () => Promise<void> } => {
  const over = new AbortController();
  const isLost = async (): Promise<boolean> => {
    try {
      return !(await renew());
    } catch (error) {
      telemetry.warn(`${name} was not renewed`, { error });
      return false;
    }
  };
  const keep = async (): Promise<void> => {
    while (!over.signal.aborted) {
      await world.sleep(everyMs, over.signal);
      if (over.signal.aborted) return;
      if (await isLost()) return onLost?.();
    }
  };
  const kept = keep().catch((error: unknown) => telemetry.warn(`${name} is held no more`, { error }));
  return {
    stop: () => {
      over.abort();
      return kept;
    },
  };
};
