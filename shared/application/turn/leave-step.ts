/**
 * A step of a turn that is left when the time of its holder is over, or its lease lost: a save may take minutes.
 *
 * The step goes on unheard, and stays interrupted. All that it still writes is refused where the turn has moved, as for a function that was
 * thought dead.
 */
import type { Deps } from '../deps.ts';
import { untilAborted } from '../unless-aborted.ts';
import type { TurnMonitor } from './commit/turn-monitor.ts';

/** Most steps hear of an interruption, and write what they have. */
const ownEndMs = 5000;

/** Undefined when the step was left. */
export const unlessLeft = async <T>(
  ports: Deps<'world' | 'telemetry'>,
  monitor: TurnMonitor,
  step: (monitor: TurnMonitor) => Promise<T>,
): Promise<{ readonly result: T } | undefined> => {
  const over = new AbortController();
  const { own, leave } = monitorOfStep(monitor);
  const ended = step(own).then((result) => ({ result }));
  try {
    const outcome = await Promise.race([ended, untilLeft(ports, monitor, over.signal)]);
    if (outcome === undefined) {
      leave();
      ports.telemetry.warn('a step was left', { why: own.interruption() });
      ended.catch((error: unknown) => ports.telemetry.warn('a step that was left failed', { error }));
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
): Promise<undefined> => {
  while (!over.aborted) {
    await untilAborted(AbortSignal.any([monitor.signal, over]));
    await world.sleep(ownEndMs, over);
    const why = monitor.interruption();
    if (why === 'deadline' || why === 'lost' || (why !== undefined && !monitor.hasTimeFor(0))) return;
  }
};

/** The holder's monitor until the step is left; then it stays as it is, and moves nothing of the holder's. */
const monitorOfStep = (holder: TurnMonitor): { readonly own: TurnMonitor; readonly leave: () => void } => {
  let left:
    | { readonly signal: AbortSignal; readonly why: ReturnType<TurnMonitor['interruption']> }
    | undefined;
  const unlessLeftBehind = (act: () => void): void => {
    if (left === undefined) act();
  };
  return {
    own: {
      get signal() {
        return left?.signal ?? holder.signal;
      },
      interruption: () => (left === undefined ? holder.interruption() : left.why),
      hasTimeFor: (milliseconds) => left === undefined && holder.hasTimeFor(milliseconds),
      expectVersion: (version) => unlessLeftBehind(() => holder.expectVersion(version)),
      restart: (version) => unlessLeftBehind(() => holder.restart(version)),
      interrupt: (why) => unlessLeftBehind(() => holder.interrupt(why)),
      stop: () => unlessLeftBehind(() => holder.stop()),
    },
    leave: () => {
      left = { signal: holder.signal, why: holder.interruption() };
    },
  };
};
