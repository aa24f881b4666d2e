/** Appends entries to a session's log outside a turn, numbered like all others, and publishes them. */

import { eventFrame } from '../../contracts/frames.ts';
import type { LogEntry } from '../../domain/event-log.ts';
import type { SessionId } from '../../domain/ids.ts';
import type { PublishDeps } from '../deps.ts';
import { openPublisher } from './publisher.ts';

/** Does nothing for a session that does not exist. */
export const appendAndPublish = async (
  ports: PublishDeps,
  id: SessionId,
  entries: readonly LogEntry[],
): Promise<void> => {
  if (entries.length === 0) return;
  const events = (await ports.eventLog.append(id, entries, ports.world.now())) ?? [];
  await openPublisher(ports, { id }).publish(events.map((event) => eventFrame(id, event)));
};
