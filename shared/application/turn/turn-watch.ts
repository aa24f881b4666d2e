/**
 * Watches a turn while its holder waits for a model or for tools: whether somebody moved it (a cancel), and
 * whether the function's time is nearly over. New watchers of the session are noticed on the way.
 *
 * A version that is seen ahead once may be the holder's own write on its way; seen twice it is somebody's. A
 * glance that fails is made again: the deadline comes all the same.
 */
import type { SessionId } from '../../domain/ids.ts';
import type { SessionStore } from '../../ports/session-store.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import type { World } from '../../ports/world.ts';
import type { Audience } from '../events/audience.ts';
import type { Desk } from './desk.ts';

export type WatchPorts = {
  readonly sessions: Pick<SessionStore, 'glance'>;
  readonly telemetry: Telemetry;
  readonly world: World;
};

/** `moved`: somebody cancelled or ended the turn. `deadline`: another invocation must go on. `lost`: another holds the lease. */
export type Interruption = 'moved' | 'deadline' | 'lost';

export type TurnWatch = {
  readonly signal: AbortSignal;
  /** Why the signal was aborted; undefined while it was not. */
  readonly interruption: () => Interruption | undefined;
  /** The holder is about to write this version: telling of it may take longer than a glance. */
  readonly expect: (version: number) => void;
  /** The holder has read the turn again: what moved it is known. */
  readonly resume: (version: number) => TurnWatch;
  /** Whether something that takes this long ends before the deadline; always when no other invocation had more time. */
  readonly hasTimeFor: (milliseconds: number) => boolean;
  readonly interrupt: (why: Interruption) => void;
  readonly stop: () => void;
};

export type Watched = {
  readonly sessionId: SessionId;
  readonly version: number;
  readonly audience: Audience;
  /** Epoch milliseconds at which the invocation began. */
  readonly startedAt: number;
  /** Epoch milliseconds after which nothing long may run. */
  readonly handoverAt: number;
};

/** A cancel must be seen within two seconds, twice. */
const glanceMs = 500;

export const watchTurn = (ports: WatchPorts, watched: Watched): TurnWatch => {
  const controller = new AbortController();
  let expected = watched.version;
  let interruption: Interruption | undefined;
  const allMs = watched.handoverAt - watched.startedAt;
  const interrupt = (why: Interruption): void => {
    interruption ??= why;
    controller.abort(new Error(`the turn was interrupted: ${why}`));
  };
  const seen = async (): Promise<number> => {
    try {
      const { version, watchers } = await ports.sessions.glance(watched.sessionId);
      watched.audience.refresh(watchers);
      return version;
    } catch (error) {
      ports.telemetry.warn('a turn was not looked at', { error });
      return expected;
    }
  };
  const look = async (): Promise<void> => {
    let ahead: number | undefined;
    while (!controller.signal.aborted) {
      await ports.world.sleep(glanceMs, controller.signal);
      if (controller.signal.aborted) return;
      if (ports.world.now() >= watched.handoverAt) return interrupt('deadline');
      const version = await seen();
      if (version > expected && version === ahead) return interrupt('moved');
      ahead = version > expected ? version : undefined;
    }
  };
  look().catch((error: unknown) => ports.telemetry.warn('a turn was not watched', { error }));
  const stop = (): void => controller.abort(new Error('the watch has ended'));
  return {
    signal: controller.signal,
    interruption: () => interruption,
    expect: (version) => {
      expected = version;
    },
    resume: (version) => {
      stop();
      return watchTurn(ports, { ...watched, version });
    },
    hasTimeFor: (milliseconds) => watched.handoverAt - ports.world.now() >= Math.min(milliseconds, allMs / 2),
    interrupt,
    stop,
  };
};

/** Calls inside go on in their sandbox: whoever comes next asks for them under the same keys. */
export const interruptedDesk = (desk: Desk, watch: TurnWatch): Desk => {
  const why = watch.interruption();
  return { ...desk, lease: why === 'lost' ? 'left' : why === 'moved' ? 'moved' : 'held' };
};
