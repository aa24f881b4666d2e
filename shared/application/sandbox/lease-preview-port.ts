/** Leases a port of a session's sandbox for preview: the requested one, or the next in rotation. */

import { previewPortCount } from '../../domain/limits.ts';
import { isPreviewPort, nextPort, previewPortRule } from '../../domain/sandbox.ts';
import { AppError } from '../../errors.ts';
import type { Deps } from '../deps.ts';
import { raceLost, untilWon } from '../write-race.ts';
import type { AcquiredSandbox } from './acquire-sandbox.ts';

/** Throws for a port that is never leased: asked before a sandbox is started for it, which takes long and may end another one. */
export const requirePreviewPort = (port: number | undefined): void => {
  if (port !== undefined && !isPreviewPort(port))
    throw new AppError('invalid_request', `port: use ${previewPortRule}`);
};

/** Leasing a leased port again returns it. Leases end with the sandbox. `workspace`: as it was read with it. */
export const leasePreviewPort = async (
  { workspaces }: Deps<'workspaces'>,
  { sandbox: { workspaceId, generation }, workspace }: AcquiredSandbox,
  request?: number,
): Promise<number> => {
  requirePreviewPort(request);
  return untilWon(async (race) => {
    const now = race === 0 ? workspace : await workspaces.get(workspaceId);
    const leased = now?.sandbox?.ports ?? [];
    if (request !== undefined && leased.includes(request)) return request;
    const port = request ?? nextPort(leased);
    if (port === undefined || leased.length >= previewPortCount) throw noPort();
    return (await workspaces.leasePort(workspaceId, generation, port)) ? port : raceLost;
  }, notReady);
};

const notReady = (): never => {
  throw new AppError('sandbox_unavailable', 'the sandbox is not ready', {
    recoveryActions: ['wait_and_retry'],
  });
};

const noPort = (): AppError =>
  new AppError('resource_limit_exceeded', 'all preview ports of this sandbox are in use', {
    suggestions: ['Use a port that is already open, or stop the session.'],
    recoveryActions: ['stop_session'],
  });
