/**
 * Monitors a turn while its holder waits for a model or for tools: whether another caller moved it (a cancel), and
 * whether the function's time is nearly over. New subscribers of the session are noticed on the way.
 *
 * A newer version that is read once may be the holder's own write; read twice, it is another caller's. A read
 * that fails is repeated: the deadline comes all the same. A request to cancel belongs to the version that it lies beside.
 */

import type { SessionId } from '../../../domain/ids.ts';
import type { Subscriber } from '../../../domain/subscriber.ts';
import type { Deps } from '../../deps.ts';

/**
 * `moved`: another caller cancelled or ended the turn. `cancelled`: another caller asks this holder to. `deadline`: another
 * invocation must go on. `lost`: another holds the lease.
 */
export type Interruption = 'moved' | 'cancelled' | 'deadline' | 'lost';

export type TurnMonitor = {
  /** Of the wait that runs now: a restart makes another. */
  readonly signal: AbortSignal;
  /** Why the signal was aborted; undefined while it was not. */
  readonly interruption: () => Interruption | undefined;
  /** The holder is about to write this version: publishing it may take longer than a read. */
  readonly expectVersion: (version: number) => void;
  /** Begins afresh: the holder has read the turn again, and knows what moved it. No effect after the stop. */
  readonly restart: (version: number) => void;
  /** True when work of this length ends before the deadline; always when no other invocation had more time, and never after the stop. */
  readonly hasTimeFor: (milliseconds: number) => boolean;
  readonly interrupt: (why: Interruption) => void;
  readonly stop: () => void;
};

export type MonitoredTurn = {
  readonly sessionId: SessionId;
  readonly version: number;
  readonly onSubscribers: (subscribers: readonly Subscriber[], readAt: number) => void;
  /** Epoch milliseconds at which the invocation began. */
  readonly startedAt: number;
  /** Epoch milliseconds after which nothing long may run. */
  readonly handoverAt: number;
};

/** A cancel must be read within two seconds, twice. */
const pollMs = 500;

export const monitorTurn = (
  ports: Deps<'turns' | 'telemetry' | 'world'>,
  monitored: MonitoredTurn,
): TurnMonitor => {
  const allMs = monitored.handoverAt - monitored.startedAt;
  let wait = startWait(ports, monitored);
  let isStopped = false;
  return {
    get signal() {
      return wait.signal;
    },
    interruption: () => wait.interruption(),
    expectVersion: (version) => wait.expectVersion(version),
    restart: (version) => {
      if (isStopped) return;
      wait.stop();
      wait = startWait(ports, { ...monitored, version });
    },
    hasTimeFor: (milliseconds) =>
      !isStopped && monitored.handoverAt - ports.world.now() >= Math.min(milliseconds, allMs / 2),
    interrupt: (why) => wait.interrupt(why),
    stop: () => {
      isStopped = true;
      wait.stop();
    },
  };
};

type ReadVersion = { readonly version: number; readonly isCancelAsked?: true };

/** Polls until the first interruption. */
const startWait = (
  { turns, telemetry, world }: Deps<'turns' | 'telemetry' | 'world'>,
  { sessionId, version: first, onSubscribers, handoverAt }: MonitoredTurn,
): Omit<TurnMonitor, 'restart' | 'hasTimeFor'> => {
  const controller = new AbortController();
  let expected = first;
  let interruption: Interruption | undefined;
  const interrupt = (why: Interruption): void => {
    interruption ??= why;
    controller.abort(new Error(`the turn was interrupted: ${why}`));
  };
  const readVersion = async (): Promise<ReadVersion> => {
    try {
      const readAt = world.now();
      const { subscribers, ...read } = await turns.readVersion(sessionId);
      onSubscribers(subscribers, readAt);
      return read;
    } catch (error) {
      telemetry.warn('the version of a turn was not read', { error });
      return { version: expected };
    }
  };
  let ahead: number | undefined;
  const interruptionOf = ({ version, isCancelAsked }: ReadVersion): Interruption | undefined => {
    if (isCancelAsked && version === expected) return 'cancelled';
    if (version > expected && version === ahead) return 'moved';
    ahead = version > expected ? version : undefined;
    return undefined;
  };
  const poll = async (): Promise<void> => {
    while (!controller.signal.aborted) {
      await world.sleep(pollMs, controller.signal);
      if (controller.signal.aborted) return;
      if (world.now() >= handoverAt) return interrupt('deadline');
      const why = interruptionOf(await readVersion());
      if (why !== undefined) return interrupt(why);
    }
  };
  poll().catch((error: unknown) => telemetry.warn('a turn was not monitored', { error }));
  return {
    signal: controller.signal,
    interruption: () => interruption,
    expectVersion: (version) => {
      expected = version;
    },
    interrupt,
    stop: () => controller.abort(new Error('the monitor has stopped')),
  };
};
