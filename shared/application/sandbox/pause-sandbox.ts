/**
 * Pauses the sandbox of a session at its client's request: its files are saved, and it is stopped like an idle one. Its
 * processes end with it. Calls, and turns that have work to do, are never cut off (L5): then the pause is refused. The pause waits for
 * the function of a turn that is over and still ends what the turn ran, for example after a cancellation.
 *
 * Its mark is that of an idleness check. A caller that uses the sandbox from then on removes the mark. A caller that was on its
 * way has reached the sandbox before it is asked for the second time.
 */

import { idleSince } from '../../domain/idle-sandbox.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import { underWayMs } from '../../domain/limits.ts';
import type { Workspace } from '../../domain/sandbox.ts';
import type { Session } from '../../domain/session.ts';
import { isAppError } from '../../errors.ts';
import type { StopDeps } from '../deps.ts';
import { requireActive } from './acquire-with-heartbeat.ts';
import { callRuns, callsIn, liveSandboxOf } from './sandbox-processes.ts';
import { savedWorkspace } from './saved-workspace.ts';
import { takeIdleSandbox } from './take-idle-sandbox.ts';
import { haveWork } from './turn-work.ts';

/** Of pauses at once each loses its mark to another one at most once. */
const triesMax = 5;

/** After a cancellation its tools are killed within 2 s. */
const turnEndMsMax = 5000;
const turnEndLookMs = 250;

/** No effect where no sandbox runs. Throws `conflict` while it starts or is used, and the error of its save. */
export const pauseSandbox = async (ports: StopDeps, session: Session): Promise<void> => {
  requireActive(session);
  const { world } = ports;
  for (const until = world.now() + turnEndMsMax; ; await world.sleep(turnEndLookMs)) {
    try {
      return await pauseNow(ports, session.workspace);
    } catch (error) {
      const isBusy = isAppError(error) && error.code === 'conflict' && world.now() < until;
      if (!isBusy || !(await isTurnEnding(ports, session.workspace))) throw error;
    }
  }
};

/** An agent session rests whose lease is held, and no session of the workspace works. */
const isTurnEnding = async ({ workspaces, sessions, world }: StopDeps, id: WorkspaceId): Promise<boolean> => {
  const users = await sessions.getMany((await workspaces.get(id))?.users ?? []);
  const rests = users.some(({ status, lease }) => status === 'idle' && lease.until > world.now());
  return rests && users.every(({ status }) => status !== 'running');
};

const pauseNow = async (ports: StopDeps, id: WorkspaceId): Promise<void> => {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const workspace = await running(ports, id);
    if (workspace === undefined) return;
    // A mark that is gone tells of a use, another one of a caller that checks the sandbox as well.
    if (tries > 0 && workspace.sandbox?.idleCheck === undefined) break;
    if (await tryPause(ports, workspace)) return;
  }
  throw callRuns();
};

/** Undefined where no sandbox starts or is ready. */
const running = async ({ workspaces }: StopDeps, id: WorkspaceId): Promise<Workspace | undefined> => {
  const workspace = await workspaces.get(id);
  const state = workspace?.sandbox?.state;
  return state === 'starting' || state === 'ready' ? workspace : undefined;
};

/** False when it is not ready, was used since, or another caller marked it. Throws when it is used now. */
const tryPause = async (ports: StopDeps, found: Workspace): Promise<boolean> => {
  const { world } = ports;
  const workspace = await marked(ports, found);
  if (workspace === undefined) return false;
  const live = liveSandboxOf(workspace);
  const users = await idleUsers(ports, workspace);
  if (live === undefined || users === undefined) throw callRuns();
  const askableAt = world.now() + underWayMs;
  const refuseCalls = async (): Promise<void> => {
    if ((await callsIn(ports, live)) > 0) throw callRuns();
  };
  await refuseCalls();
  await savedWorkspace(ports, workspace.id);
  await world.sleep(Math.max(0, askableAt - world.now()));
  await refuseCalls();
  return takeIdleSandbox(ports, { workspace, users }, 'pause');
};

/** As it is read with the mark. A mark that is there serves as well: of pauses at once one stops the sandbox, and none refuses another. */
const marked = async (
  { workspaces, world }: StopDeps,
  workspace: Workspace,
): Promise<Workspace | undefined> => {
  const { id, sandbox } = workspace;
  if (sandbox === undefined || sandbox.idleCheck !== undefined) return workspace;
  return workspaces.markIdleCheck(id, sandbox.generation, world.uuid());
};

/** All sessions of the workspace; undefined when one is busy. */
const idleUsers = async (
  ports: StopDeps,
  { users, sandbox }: Workspace,
): Promise<readonly Session[] | undefined> => {
  const sessions = await ports.sessions.getMany(users);
  const isIdle = sandbox !== undefined && idleSince({ sandbox, sessions }, ports.world.now()) !== undefined;
  return isIdle && !(await haveWork(ports, sessions)) ? sessions : undefined;
};
