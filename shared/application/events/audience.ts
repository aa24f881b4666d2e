/**
 * The audience of a session: everyone whose socket watches it. Who watches the top of its tree hears what a person must
 * decide in it (told-above.ts).
 *
 * Frames reach each watcher in order, watchers in parallel. A watcher that left is forgotten; one that
 * cannot keep up misses frames and fetches the gap from the log. New watchers are noticed within a
 * bounded time, so that a stream of deltas costs no reads of its own.
 */
import type { Frame } from '../../contracts/frames.ts';
import type { ConnectionId, ProjectId } from '../../domain/ids.ts';
import { watcherRefreshMs } from '../../domain/limits.ts';
import type { Session } from '../../domain/session.ts';
import type { ApprovalStore } from '../../ports/approval-store.ts';
import type { ConnectionStore } from '../../ports/connection-store.ts';
import type { Sockets } from '../../ports/sockets.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import type { World } from '../../ports/world.ts';
import { publishWaiting } from './publish-waiting.ts';
import { toldAbove } from './told-above.ts';

export type AudiencePorts = {
  readonly connections: ConnectionStore;
  readonly approvals: Pick<ApprovalStore, 'count'>;
  readonly sockets: Sockets;
  readonly telemetry: Telemetry;
  readonly world: World;
};

export type Audience = {
  readonly tell: (frames: readonly Frame[]) => Promise<void>;
  /** Tells those who decide in the project how many calls wait for them. */
  readonly waitingChanged: (project: ProjectId) => Promise<void>;
  /** Somebody has just read who watches. */
  readonly refresh: (watchers: readonly ConnectionId[]) => void;
};

/** `known` saves the first read, when the caller has just made it. */
export const openAudience = (
  ports: AudiencePorts,
  { id: sessionId, tree: family }: Pick<Session, 'id' | 'tree'>,
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

  const next = (work: () => Promise<void>): Promise<void> => {
    last = last.then(work).catch((error: unknown) => telemetry.warn('an audience missed frames', { error }));
    return last;
  };

  return {
    refresh: (now) => {
      watchers = now;
      readAt = ports.world.now();
    },
    tell: (frames) => (frames.length === 0 ? last : next(() => tellNow(frames))),
    waitingChanged: (project) => next(() => publishWaiting(ports, project)),
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
