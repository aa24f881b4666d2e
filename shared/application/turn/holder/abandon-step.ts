/**
 * A step of a turn that is left when the time of its holder is over, or its lease lost: a save may take minutes.
 *
 * The step continues, but its result is ignored, and it stays interrupted. Each of its later writes is refused where the
 * turn has moved, as for a function that was thought dead.
 */
import type { Deps } from '../../deps.ts';
import { untilAborted } from '../../wait-unless-aborted.ts';
import type { TurnMonitor } from './turn-monitor.ts';

/** Most steps hear of an interruption, and write what they have. */
const ownEndMs = 5000;

/** The step's own result, or `abandoned`: its monitor has stopped then, so that its holder leaves, too. */
export const unlessAbandoned = async <T>(
  ports: Deps<'world' | 'telemetry'>,
  monitor: TurnMonitor,
  step: Promise<T>,
): Promise<T | 'abandoned'> => {
  const over = new AbortController();
  try {
    const outcome = await Promise.race([step, untilLeft(ports, monitor, over.signal)]);
    if (outcome === 'abandoned') {
      monitor.stop();
      ports.telemetry.warn('a step was left', { why: monitor.interruption() });
      step.catch((error: unknown) => ports.telemetry.warn('a step that was left failed', { error }));
    }
    return outcome;
  } finally {
    over.abort();
  }
};

/** While its holder keeps the lease no other step may run beside it: until then one that does not hear of a cancel is waited for. */
const untilLeft = async (
  { world }: Deps<'world'>,
  monitor: TurnMonitor,
  over: AbortSignal,
): Promise<'abandoned'> => {
  for (;;) {
    await untilAborted(AbortSignal.any([monitor.signal, over]));
    await world.sleep(ownEndMs, over);
    const why = monitor.interruption();
    const isOver = why === 'deadline' || why === 'lost' || (why !== undefined && !monitor.hasTimeFor(0));
    if (isOver || over.aborted) return 'abandoned';
  }
};
