/**
 * Files of a workspace for a principal who may only read: from a sandbox that runs anyway, else from the last
 * checkpoint. Starts no sandbox, and is no sign of life for one that runs (AC5).
 */

import type { LiveSandbox, Workspace } from '../../domain/sandbox.ts';
import { type SavedWant, savedEntryAt } from '../../domain/saved-tree.ts';
import type { Session } from '../../domain/session.ts';
import { AppError, isAppError } from '../../errors.ts';
import type { LinkRequest } from '../../ports/sandbox.ts';
import type { SavedFileRequest } from '../../ports/workspace-archive.ts';
import type { Deps } from '../deps.ts';
import { requireActive } from './acquire-with-heartbeat.ts';

/** `watch`: only of a sandbox that runs, since saved files do not change. */
export type FileWant = SavedWant | 'watch';

type Look = Omit<SavedFileRequest, 'checkpoint' | 'want'> & {
  readonly want: FileWant;
  /** The same, as a request to a sandbox. */
  readonly request: LinkRequest;
};

/** The address of the same in a sandbox. */
export const readAddressOf = (want: FileWant, path: string): string => {
  const query = `path=${encodeURIComponent(path)}`;
  switch (want) {
    case 'file':
      return filePath(path);
    case 'archive':
      return `${filePath(path)}?archive=tar.gz`;
    case 'folder':
      return `/files?${query}`;
    case 'tree':
      return `/files?${query}&recursive=1`;
    case 'stat':
      return `/stat?${query}`;
    case 'watch':
      return `/watch?${query}`;
  }
};

/** As one segment, so that slashes reach the sandbox unchanged; a segment of dots alone would not. */
export const filePath = (path: string): string =>
  `/files/${encodeURIComponent(path === '.' || path === '..' ? `./${path}` : path)}`;

export const browseFiles = async (
  ports: Deps<'workspaces' | 'link' | 'savedFiles'>,
  session: Session,
  { request, want, ...options }: Look,
): Promise<Response> => {
  requireActive(session);
  const workspace = await ports.workspaces.get(session.workspace);
  const running = await askRunning(ports, workspace, request);
  if (running !== undefined) return running;
  if (want === 'watch')
    throw new AppError(
      'sandbox_unavailable',
      'the sandbox of this session is not running, so there is nothing to watch',
      {
        suggestions: ['Try again when the sandbox runs.'],
        recoveryActions: ['wait_and_retry'],
      },
    );
  const checkpoint = workspace?.checkpoint;
  if (checkpoint !== undefined)
    return ports.savedFiles.fetch(session.workspace, { ...options, want, checkpoint });
  const ref = savedEntryAt([], options.path);
  if (ref.kind === 'refused') throw new AppError(ref.code, ref.message);
  return neverSaved(want, session);
};

/** The root of a workspace that was never saved: an empty folder. */
const neverSaved = (want: SavedWant, { createdAt }: Session): Response => {
  if (want === 'folder' || want === 'tree') return Response.json({ files: [] });
  if (want === 'stat')
    return Response.json({
      path: '',
      ...{ name: '', type: 'directory', size: 0, modifiedAt: new Date(createdAt).toISOString() },
    });
  throw new AppError('file_not_found', 'nothing of the workspace was ever saved');
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
