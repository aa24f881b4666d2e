/** Appends entries to a session's log outside a turn, numbered like all others, and publishes them. */
import { eventFrame } from '../../contracts/frames.ts';
import type { LogEntry } from '../../domain/event-log.ts';
import type { SessionId } from '../../domain/ids.ts';
import type { SessionStore } from '../../ports/session-store.ts';
import { openPublisher, type PublisherPorts } from './publisher.ts';

export type AppendPorts = PublisherPorts & { readonly sessions: Pick<SessionStore, 'append'> };

/** Does nothing for a session that does not exist. */
export const appendAndPublish = async (
  ports: AppendPorts,
  id: SessionId,
  entries: readonly LogEntry[],
): Promise<void> => {
  if (entries.length === 0) return;
  const events = (await ports.sessions.append(id, entries, ports.world.now())) ?? [];
  await openPublisher(ports, { id }).publish(events.map((event) => eventFrame(id, event)));
};
