/**
 * A step of a turn that is left when its holder was interrupted: a save may take minutes, and the time of its function is over.
 *
 * The step goes on unheard. All that it still writes is refused where the turn has moved, as for a function that was thought dead.
 */
import type { Deps } from '../deps.ts';
import { untilAborted } from '../unless-aborted.ts';
import type { TurnMonitor } from './commit/turn-monitor.ts';

/** Most steps hear of an interruption, and write what they have. */
const ownEndMs = 5000;

/** Undefined when the step was left. */
export const unlessLeft = async <T>(
  ports: Deps<'world' | 'telemetry'>,
  monitor: Pick<TurnMonitor, 'signal' | 'interruption'>,
  work: Promise<T>,
): Promise<{ readonly result: T } | undefined> => {
  const over = new AbortController();
  const ended = work.then((result) => ({ result }));
  try {
    const outcome = await Promise.race([ended, untilLeft(ports, monitor, over.signal)]);
    if (outcome === undefined) {
      ports.telemetry.warn('a step was left', { why: monitor.interruption() });
      ended.catch((error: unknown) => ports.telemetry.warn('a step that was left failed', { error }));
    }
    return outcome;
  } finally {
    over.abort();
  }
};

/** A step that reads its turn again begins the wait afresh: it has dealt with the interruption. */
const untilLeft = async (
  { world }: Deps<'world'>,
  monitor: Pick<TurnMonitor, 'signal' | 'interruption'>,
  over: AbortSignal,
): Promise<undefined> => {
  while (!over.aborted) {
    await untilAborted(AbortSignal.any([monitor.signal, over]));
    await world.sleep(ownEndMs, over);
    if (monitor.interruption() !== undefined) return;
  }
};
