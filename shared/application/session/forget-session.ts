/** Deletes the remains of an ended session, and its workspace when that has no name and no other user. */

import type { WorkspaceId } from '../../domain/ids.ts';
import type { Session } from '../../domain/session.ts';
import type { Deps } from '../deps.ts';
import { letGo } from '../turn/requests/end-session.ts';

export type ForgetSessionDeps = Deps<'sessions' | 'workspaces' | 'invoker' | 'telemetry' | 'world'> & {
  /** Deletes the saved files of a deleted workspace, or requests it. Its remains are due for what that leaves. */
  readonly forgetFiles: (workspace: WorkspaceId) => Promise<void>;
};

/**
 * The function that ended it may have died before it left the workspace. False while its sandbox still stops: the
 * session is then tried again, or its files would stay for ever. False, too, for one that was reopened since.
 */
export const forgetSession = async (ports: ForgetSessionDeps, session: Session): Promise<boolean> => {
  const { id, workspace } = session;
  await letGo(ports, session, { reason: 'the session ended' });
  if (await ports.workspaces.remove(workspace, ports.world.now())) await ports.forgetFiles(workspace);
  else {
    const left = await ports.workspaces.get(workspace);
    const isKept = left?.isNamed === true && left.deletedAt === undefined;
    if (!isKept && left?.users.length === 0) return false;
  }
  if (!(await ports.sessions.forget(id))) return false;
  ports.telemetry.info('an ended session was forgotten', { event: 'session_forgotten', sessionId: id });
  return true;
};
