/**
 * The audience of a session: everyone whose socket watches it. Who watches the top of its tree hears what a person must
 * decide in it (told-above.ts).
 *
 * Frames reach each watcher in order, watchers in parallel. A watcher that left is forgotten; one that
 * cannot keep up misses frames and fetches the gap from the log. New watchers are noticed within a
 * bounded time, so that a stream of deltas costs no reads of its own.
 */
import type { Frame } from '../../contracts/frames.ts';
import type { ConnectionId } from '../../domain/ids.ts';
import { watcherRefreshMs } from '../../domain/limits.ts';
import type { Session } from '../../domain/session.ts';
import type { ConnectionStore } from '../../ports/connection-store.ts';
import type { Sockets } from '../../ports/sockets.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import type { World } from '../../ports/world.ts';
import { toldAbove } from './told-above.ts';

export type AudiencePorts = {
  readonly connections: ConnectionStore;
  readonly sockets: Sockets;
  readonly telemetry: Telemetry;
  readonly world: World;
};

export type Audience = {
  readonly tell: (frames: readonly Frame[]) => Promise<void>;
  /** Somebody has just read who watches. */
  readonly refresh: (watchers: readonly ConnectionId[]) => void;
};

/** `known` saves the first read, when the caller has just made it. */
export const openAudience = (
  ports: AudiencePorts,
  { id: sessionId, family }: Pick<Session, 'id' | 'family'>,
  known?: readonly ConnectionId[],
): Audience => {
  const { telemetry } = ports;
  const above = family && openAudience(ports, { id: family.root });
  let watchers = known ?? [];
  let readAt = known === undefined ? Number.NEGATIVE_INFINITY : ports.world.now();
  let last: Promise<void> = Promise.resolve();

  const tellNow = async (frames: readonly Frame[]): Promise<void> => {
    if (ports.world.now() - readAt > watcherRefreshMs) {
      watchers = await ports.connections.watchers(sessionId);
      readAt = ports.world.now();
    }
    const texts = frames.map((frame) => JSON.stringify(frame));
    const stays = await Promise.all(watchers.map((watcher) => tellOne(ports, watcher, texts)));
    watchers = watchers.filter((_, index) => stays[index]);
    await above?.tell(frames.map(toldAbove).filter((frame) => frame !== undefined));
  };

  return {
    refresh: (now) => {
      watchers = now;
      readAt = ports.world.now();
    },
    tell: (frames) => {
      if (frames.length === 0) return last;
      last = last
        .then(() => tellNow(frames))
        .catch((error: unknown) => telemetry.warn('an audience missed frames', { error }));
      return last;
    },
  };
};

/** False when the watcher is gone. A socket that fails otherwise keeps its place: the log has what it missed. */
const tellOne = async (
  ports: AudiencePorts,
  watcher: ConnectionId,
  texts: readonly string[],
): Promise<boolean> => {
  try {
    for (const text of texts) {
      if ((await ports.sockets.post(watcher, text)) === 'gone') {
        ports.telemetry.count('SocketsGone');
        await ports.connections.remove(watcher);
        return false;
      }
    }
  } catch (error) {
    ports.telemetry.warn('a watcher missed frames', { watcher, error });
  }
  return true;
};
