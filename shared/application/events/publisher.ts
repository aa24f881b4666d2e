/**
 * Publishes frames to the subscribers of a session: the sockets that are connected to it. Subscribers of the root of its tree
 * get what a person must decide in it (forward-to-root.ts).
 *
 * Frames reach each subscriber in order, subscribers in parallel. A subscriber that left is removed; one that cannot keep up
 * misses frames and fetches the gap from the log. New subscribers are noticed within a bounded time, so that a stream of
 * deltas costs no reads of its own.
 */

import type { Frame } from '../../contracts/frames.ts';
import type { ConnectionId, ProjectId } from '../../domain/ids.ts';
import { subscriberRefreshMs } from '../../domain/limits.ts';
import type { Session } from '../../domain/session.ts';
import type { PublishDeps } from '../deps.ts';
import { forwardedToRoot } from './forward-to-root.ts';
import { publishWaiting } from './publish-waiting.ts';

export type Publisher = {
  readonly publish: (frames: readonly Frame[]) => Promise<void>;
  /** Sends the number of waiting calls to those who decide in the project. */
  readonly waitingChanged: (project: ProjectId) => Promise<void>;
  /** The caller has just read the subscribers. */
  readonly setSubscribers: (subscribers: readonly ConnectionId[]) => void;
};

/** `known` saves the first read, when the caller has just made it. */
export const openPublisher = (
  ports: PublishDeps,
  { id: sessionId, tree }: Pick<Session, 'id' | 'tree'>,
  known?: readonly ConnectionId[],
): Publisher => {
  const { telemetry } = ports;
  const root = tree && openPublisher(ports, { id: tree.root });
  let subscribers = known ?? [];
  let readAt = known === undefined ? Number.NEGATIVE_INFINITY : ports.world.now();
  let last: Promise<void> = Promise.resolve();

  const publishNow = async (frames: readonly Frame[]): Promise<void> => {
    if (ports.world.now() - readAt > subscriberRefreshMs) {
      subscribers = await ports.connections.subscribers(sessionId);
      readAt = ports.world.now();
    }
    const texts = frames.map((frame) => JSON.stringify(frame));
    const stays = await Promise.all(subscribers.map((subscriber) => postTo(ports, subscriber, texts)));
    subscribers = subscribers.filter((_, index) => stays[index]);
    await root?.publish(frames.map(forwardedToRoot).filter((frame) => frame !== undefined));
  };

  const next = (work: () => Promise<void>): Promise<void> => {
    last = last.then(work).catch((error: unknown) => telemetry.warn('subscribers missed frames', { error }));
    return last;
  };

  return {
    setSubscribers: (now) => {
      subscribers = now;
      readAt = ports.world.now();
    },
    publish: (frames) => (frames.length === 0 ? last : next(() => publishNow(frames))),
    waitingChanged: (project) => next(() => publishWaiting(ports, project)),
  };
};

/** False when the subscriber has left. A socket that fails otherwise stays: the log has the frames that it missed. */
const postTo = async (
  ports: PublishDeps,
  subscriber: ConnectionId,
  texts: readonly string[],
): Promise<boolean> => {
  try {
    for (const text of texts) {
      if ((await ports.sockets.post(subscriber, text)) === 'gone') {
        ports.telemetry.count('SocketsGone');
        await ports.connections.remove(subscriber);
        return false;
      }
    }
  } catch (error) {
    ports.telemetry.warn('a subscriber missed frames', { subscriber, error });
  }
  return true;
};
