/** The sandbox of a session, outside a turn: acquired, and its start said in the session's log. */
import { eventFrame } from '../contracts/frames.ts';
import type { LiveSandbox } from '../domain/sandbox.ts';
import { isEnded, type Session } from '../domain/session.ts';
import { AppError } from '../errors.ts';
import type { SessionStore } from '../ports/session-store.ts';
import { type AcquirePorts, acquireSandbox } from './acquire-sandbox.ts';
import { type AudiencePorts, openAudience } from './audience.ts';

export const openSandbox = async (
  ports: AcquirePorts & AudiencePorts & { readonly sessions: SessionStore },
  { id, status, workspace: workspaceId, flavor, template }: Session,
): Promise<LiveSandbox> => {
  if (isEnded(status)) throw new AppError('invalid_session_state', `the session is ${status}`);
  const { sandbox, startMs } = await acquireSandbox(ports, { workspaceId, flavor, template });
  if (startMs === undefined) return sandbox;
  const entry = { type: 'system' as const, data: { kind: 'sandbox_started', startMs, source: 'cold' } };
  const events = (await ports.sessions.append(id, [entry], ports.world.now())) ?? [];
  await openAudience(ports, id).tell(events.map((event) => eventFrame(id, event)));
  return sandbox;
};
