/**
 * Ends a session: its running turn and every waiting message are completed as cancelled, then it is marked
 * ended and its place given back, then its sandbox is asked to stop unless another session of the workspace
 * still uses it. Who dies in between leaves the rest to the janitor, which looks again soon.
 */

import { redriveAfterMs } from '../domain/limits.ts';
import { endedStatus, isEnded, type Session } from '../domain/session.ts';
import type { SessionStore } from '../ports/session-store.ts';
import type { AudiencePorts } from './audience.ts';
import { cancelNext } from './cancel-turn.ts';
import { say } from './say.ts';
import { type RequestStopPorts, requestStop } from './stop-sandbox.ts';

export type EndPorts = AudiencePorts & RequestStopPorts & { readonly sessions: SessionStore };

type Ending = {
  readonly reason: string;
  readonly correlationId: string;
  /** Leaves it alone when it showed a sign of life since it was read. */
  readonly unlessMoved?: boolean;
};

/** Messages that wait, and races with the turn's holder: more than this in one session is beyond its inbox. */
const cancelsMax = 1000;
/** A message that comes between the last completion and the end is completed, too, before the end is tried again. */
const endsMax = 20;

/** False when it had ended before, or moved. */
export const endSession = async (ports: EndPorts, session: Session, ending: Ending): Promise<boolean> => {
  const ended =
    session.kind === 'execution' ? await endOnce(ports, session, ending) : await complete(ports, session);
  if (ended === undefined) return false;
  await say(ports, ended.id, [{ type: 'system', data: { kind: 'session_status', status: ended.status } }]);
  await letGo(ports, ended, ending);
  return true;
};

const endOnce = (
  { sessions, world }: EndPorts,
  session: Session,
  { unlessMoved = false }: Pick<Ending, 'unlessMoved'>,
): Promise<Session | undefined> => {
  const at = world.now();
  const status = endedStatus(session.kind);
  return sessions.end(session, { status, at, dueAt: at + redriveAfterMs, unlessMoved });
};

/** Undefined when somebody else ended it. */
const complete = async (ports: EndPorts, { id }: Session): Promise<Session | undefined> => {
  for (let attempt = 0; attempt < endsMax; attempt += 1) {
    for (let cancel = 0; cancel < cancelsMax; cancel += 1)
      if ((await cancelNext(ports, id)) === 'nothing') break;
    const found = await ports.sessions.get(id);
    if (found === undefined || isEnded(found.status)) return undefined;
    const { inbox } = await ports.sessions.loadWork(id);
    const ended = inbox.length > 0 ? undefined : await endOnce(ports, found, { unlessMoved: true });
    if (ended !== undefined) return ended;
  }
  throw new Error(`session ${id}: it moved ${endsMax} times while it was ended`);
};

/** The ended session no longer uses its workspace; the last user's leaving stops the sandbox. */
export const letGo = async (
  ports: RequestStopPorts,
  { id, workspace: workspaceId }: Session,
  { reason, correlationId }: Ending,
): Promise<void> => {
  const workspace = await ports.workspaces.leave(workspaceId, id);
  if (workspace === undefined || workspace.users.length > 0 || workspace.sandbox?.state === 'stopping')
    return;
  await requestStop(ports, workspace, { reason, correlationId });
};
