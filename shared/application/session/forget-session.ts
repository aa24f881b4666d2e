/** All that is left of an ended session goes, and its workspace with it when that has no name and no other user. */
import type { WorkspaceId } from '../../domain/ids.ts';
import type { Session } from '../../domain/session.ts';
import type { SessionStore } from '../../ports/session-store.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import type { RequestStopPorts } from '../sandbox/stop-sandbox.ts';
import { letGo } from '../turn/end-session.ts';

export type ForgetSessionPorts = RequestStopPorts & {
  readonly sessions: Pick<SessionStore, 'forget'>;
  readonly telemetry: Telemetry;
  /** Deletes what was saved of a workspace that is gone, or has it deleted. */
  readonly forgetFiles: (workspace: WorkspaceId) => Promise<void>;
};

/**
 * Who ended it may have died before it let go of the workspace; one whose sandbox still stops comes again, or its
 * files would stay for ever: false.
 */
export const forgetSession = async (
  ports: ForgetSessionPorts,
  session: Session,
  correlationId: string,
): Promise<boolean> => {
  const { id, workspace } = session;
  await letGo(ports, session, { reason: 'the session ended', correlationId });
  if (await ports.workspaces.remove(workspace)) await ports.forgetFiles(workspace);
  else {
    const left = await ports.workspaces.get(workspace);
    const isKept = left?.isNamed === true && left.deletedAt === undefined;
    if (!isKept && left?.users.length === 0) return false;
  }
  await ports.sessions.forget(id);
  ports.telemetry.info('an ended session was forgotten', { event: 'session_forgotten', sessionId: id });
  return true;
};
