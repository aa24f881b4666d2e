/**
 * Posts frames to one connection, one after the other. While the client reads more slowly than they come, each waits for it, so that
 * none is left out. A client that has kept them waiting for too long is closed: it connects again after the last event that it has.
 */
import type { ConnectionId } from '../../domain/ids.ts';
import type { Deps } from '../deps.ts';

/** All waits together: these, and what comes before them, end within the 30 s of `on-connected`. */
const slowMsMax = 10_000;
const slowPauseMs = 250;

/** False: the connection is gone, or was closed here, and takes no further frame. */
export type PostInOrder = (frame: string) => Promise<boolean>;

export const openPostInOrder = (
  { sockets, world }: Deps<'sockets' | 'world'>,
  connectionId: ConnectionId,
): PostInOrder => {
  let waitedMs = 0;
  return async (frame) => {
    while (waitedMs < slowMsMax) {
      const begunAt = world.now();
      const posted = await sockets.post(connectionId, frame);
      if (posted !== 'slow') return posted === 'sent';
      await world.sleep(slowPauseMs);
      waitedMs += world.now() - begunAt;
    }
    await sockets.close(connectionId);
    return false;
  };
};
