/**
 * Files of a workspace for a principal who may only read: from a sandbox that runs anyway, else from the last
 * checkpoint. Starts no sandbox, and is no sign of life for one that runs (AC5).
 */

import { savedEntryAt } from '../../domain/checkpoint-files.ts';
import type { LiveSandbox, Workspace } from '../../domain/sandbox.ts';
import type { Session } from '../../domain/session.ts';
import { AppError, isAppError } from '../../errors.ts';
import type { LinkRequest } from '../../ports/sandbox.ts';
import type { SavedFileRequest } from '../../ports/workspace-archive.ts';
import type { Deps } from '../deps.ts';
import { requireActive } from '../sandbox/open-sandbox.ts';

type Look = Omit<SavedFileRequest, 'checkpoint'> & {
  /** The same, as a request to a sandbox. */
  readonly request: LinkRequest;
};

export const browseFiles = async (
  ports: Deps<'workspaces' | 'link' | 'savedFiles'>,
  session: Session,
  { request, ...options }: Look,
): Promise<Response> => {
  requireActive(session);
  const workspace = await ports.workspaces.get(session.workspace);
  const running = await askRunning(ports, workspace, request);
  if (running !== undefined) return running;
  const checkpoint = workspace?.checkpoint;
  if (checkpoint !== undefined) return ports.savedFiles.fetch(session.workspace, { ...options, checkpoint });
  const ref = savedEntryAt([], options.path);
  if (ref.kind === 'refused') throw new AppError(ref.code, ref.message);
  return Response.json({ files: [] });
};

/** Undefined where none runs, or where it died a moment ago. */
const askRunning = async (
  { link }: Deps<'workspaces' | 'link' | 'savedFiles'>,
  workspace: Workspace | undefined,
  request: LinkRequest,
): Promise<Response | undefined> => {
  const sandbox = workspace && runningSandbox(workspace);
  if (sandbox === undefined) return undefined;
  try {
    return await link.fetch(sandbox, request);
  } catch (error) {
    if (isAppError(error) && error.code === 'sandbox_unavailable') return undefined;
    throw error;
  }
};

const runningSandbox = ({ id: workspaceId, sandbox }: Workspace): LiveSandbox | undefined => {
  if (sandbox?.state !== 'ready' || sandbox.address === undefined) return undefined;
  const { generation, address, flavor } = sandbox;
  return { workspaceId, generation, address, flavor };
};
