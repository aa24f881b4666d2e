/**
 * Deletes the remains of an ended session, and its workspace when that has no name and no other user.
 *
 * Its function may have died before it went after what ends with it, and nothing finds a session's children once its record
 * is deleted: they are ended first (CH4). A child stays until its parent has read its answer (CH3), one that tried a call
 * until that is decided and carried out (AP7).
 */

import type { SessionId, WorkspaceId } from '../../domain/ids.ts';
import type { Session } from '../../domain/session.ts';
import { callsWithChildren } from '../../domain/turn/pending-work.ts';
import type { Deps, TurnDeps } from '../deps.ts';
import { endChildren, letGo } from '../turn/requests/end-session.ts';
import { trialUse } from '../turn/trial/trial-session.ts';

export type ForgetSessionDeps = TurnDeps & {
  /** Deletes the saved files of a deleted workspace, or requests it. Its remains are due for what that leaves. */
  readonly forgetFiles: (workspace: WorkspaceId) => Promise<void>;
};

const sessionEnded = { reason: 'the session ended' };

/**
 * False while its sandbox still stops, or its parent has to read it, and does so now, or has yet to decide by it: the session is
 * then tried again, or its files would stay for ever. False, too, for one that was reopened since.
 */
export const forgetSession = async (ports: ForgetSessionDeps, session: Session): Promise<boolean> => {
  const { id, workspace } = session;
  const parent = await waitingParent(ports, session);
  if (parent !== undefined) {
    await ports.invoker.runTurn(parent);
    return false;
  }
  if ((await trialUse(ports, session)) !== undefined) return false;
  await endChildren(ports, session, sessionEnded);
  await letGo(ports, session, sessionEnded);
  if (await ports.workspaces.remove(workspace, ports.world.now())) await ports.forgetFiles(workspace);
  else {
    const left = await ports.workspaces.get(workspace);
    const isKept = left?.isNamed === true && left.deletedAt === undefined;
    if (!isKept && left?.users.length === 0) return false;
  }
  if (!(await ports.sessions.forget(id, ports.world.now()))) return false;
  ports.telemetry.info('an ended session was forgotten', { event: 'session_forgotten', sessionId: id });
  return true;
};

/** The parent that has not read this child's answer yet: the log must stay until then (CH3). */
const waitingParent = async (
  { turns }: Deps<'turns'>,
  { id, tree }: Pick<Session, 'id' | 'tree'>,
): Promise<SessionId | undefined> => {
  if (tree === undefined) return undefined;
  const { state } = (await turns.loadWork(tree.parent)).turn;
  return callsWithChildren(state).some(({ wait }) => wait.child.session === id) ? tree.parent : undefined;
};
