/** Tells the execution sessions of a sandbox that is stopped for idleness that they are paused. */

import { isPausable, type Session } from '../../domain/session.ts';
import type { PublishDeps } from '../deps.ts';
import { appendAndPublish } from '../events/publisher.ts';

/** The sessions as they were before. */
export const markPaused = async (ports: PublishDeps, sessions: readonly Session[]): Promise<void> => {
  const entry = { type: 'system', data: { kind: 'session_status', status: 'paused' } } as const;
  for (const { id } of sessions.filter(isPausable)) {
    ports.telemetry.count('SessionsPaused');
    ports.telemetry.info('a session is paused', { event: 'session_paused', sessionId: id });
    await appendAndPublish(ports, id, [entry]);
  }
};
