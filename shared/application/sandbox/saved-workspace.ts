/** A workspace whose checkpoint has what its sandbox has at this moment, for a snapshot or a fork of it. */

import type { LeftOut } from '../../domain/checkpoint.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import { lastSaveMsMax, stopRetryMs } from '../../domain/limits.ts';
import {
  isLastSaveOpen,
  type LiveSandbox,
  type SandboxRecord,
  type Workspace,
} from '../../domain/sandbox.ts';
import { AppError, type AppErrorDetails, type ErrorCode, isErrorCode } from '../../errors.ts';
import type { Deps, StopDeps } from '../deps.ts';
import { saveWorkspace } from './save-workspace.ts';

/** Throws when its sandbox runs and could not be saved. */
export const savedWorkspace = async (ports: StopDeps, id: WorkspaceId): Promise<Workspace> =>
  (await savedWithRest(ports, id)).workspace;

/** With what the sandbox has and no checkpoint can hold. Throws as `savedWorkspace` does. */
export const savedWithRest = async (ports: StopDeps, id: WorkspaceId): Promise<Saved> => {
  const workspace = await existingWorkspace(ports, id);
  const sandbox = savable(id, workspace.sandbox);
  if (sandbox === undefined) return { workspace, leftOut: [] };
  const report = await saveWorkspace(ports, sandbox, { workspace });
  const current = await existingWorkspace(ports, id);
  // One that has ended since then has made its last save: there is nothing else to save.
  if (savable(id, current.sandbox) === undefined) return { workspace: current, leftOut: [] };
  if (report.status === 'saved') return { workspace: current, leftOut: report.leftOut };
  const code = isErrorCode(report.code) ? report.code : 'sandbox_unavailable';
  throw new AppError(code, `the workspace could not be saved: ${report.message}`, adviceOf(code));
};

const adviceOf = (code: ErrorCode): AppErrorDetails => {
  switch (code) {
    case 'internal_error':
      return { suggestions: ['Tell an operator: another try fails as well.'] };
    case 'resource_limit_exceeded':
      return { suggestions: ['Delete files that are not needed, then try again.'] };
    default:
      return { suggestions: ['Try again.'], recoveryActions: ['retry_operation'] };
  }
};

type Saved = { readonly workspace: Workspace; readonly leftOut: readonly LeftOut[] };

/** Throws `workspace_not_found` also for one that is being deleted. */
export const existingWorkspace = async (
  { workspaces }: Deps<'workspaces'>,
  id: WorkspaceId,
): Promise<Workspace> => {
  const workspace = await workspaces.get(id);
  if (workspace !== undefined && workspace.deletedAt === undefined) return workspace;
  throw new AppError('workspace_not_found', `workspace ${id} not found`, {
    suggestions: ['It is deleted with its session.'],
  });
};

/** Undefined when none runs, or when a restored snapshot has replaced its files. */
export const savable = (
  workspaceId: WorkspaceId,
  sandbox: SandboxRecord | undefined,
): LiveSandbox | undefined => {
  if (sandbox?.address === undefined || sandbox.readyAt === undefined) return undefined;
  const { state, generation, address, flavor, taskStopRequestedAt, isDiscarded } = sandbox;
  const isUp = state === 'ready' || (state === 'stopping' && taskStopRequestedAt === undefined);
  return isUp && isDiscarded === undefined ? { workspaceId, generation, address, flavor } : undefined;
};

/**
 * Waits for the last save of a sandbox that is being stopped: until then the state of its files is unknown. The janitor makes
 * that save, since only it may stop tasks; it is asked again now and then, and not waited for longer than one may take.
 */
const lookMs = 1000;

/** The workspace after it; undefined when there is none. A sandbox that no caller stops is not waited for. */
export const afterLastSave = async (
  { workspaces, invoker, world }: StopDeps,
  id: WorkspaceId,
): Promise<Workspace | undefined> => {
  const until = world.now() + lastSaveMsMax;
  let askedAt = Number.NEGATIVE_INFINITY;
  for (;;) {
    const workspace = await workspaces.get(id);
    const now = world.now();
    if (workspace?.sandbox === undefined || !isLastSaveOpen(workspace.sandbox) || now >= until)
      return workspace;
    if (now - askedAt >= stopRetryMs) {
      askedAt = now;
      await invoker.stopSandbox(id);
    }
    await world.sleep(lookMs);
  }
};

/** The files of a session as a trial takes them and an application finds them: with what no checkpoint can hold. */
export const liveWorkspace = async (ports: StopDeps, id: WorkspaceId): ReturnType<typeof savedWithRest> => {
  const saved = await savedWithRest(ports, id);
  // A file that was written to while it was read may stand still now.
  return saved.leftOut.length === 0 ? saved : savedWithRest(ports, id);
};
