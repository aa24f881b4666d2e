/** Says something in a session's log outside a turn: numbered like everything else, then told to who watches. */
import { eventFrame } from '../../contracts/frames.ts';
import type { LogEntry } from '../../domain/event-log.ts';
import type { SessionId } from '../../domain/ids.ts';
import type { SessionStore } from '../../ports/session-store.ts';
import { type AudiencePorts, openAudience } from './audience.ts';

export type SayPorts = AudiencePorts & { readonly sessions: Pick<SessionStore, 'append'> };

/** Does nothing for a session that does not exist. */
export const say = async (ports: SayPorts, id: SessionId, entries: readonly LogEntry[]): Promise<void> => {
  if (entries.length === 0) return;
  const events = (await ports.sessions.append(id, entries, ports.world.now())) ?? [];
  await openAudience(ports, { id }).tell(events.map((event) => eventFrame(id, event)));
};
