/** Leases a port of a session's sandbox for preview: the requested one, or the next in rotation. */

import { isPreviewPort, nextPort } from '../../domain/sandbox.ts';
import { AppError } from '../../errors.ts';
import type { Deps } from '../deps.ts';
import type { AcquiredSandbox } from './acquire-sandbox.ts';

const racesMax = 50;

/** Leasing a leased port again returns it. Leases end with the sandbox. `workspace`: as it was read with it. */
export const leasePort = async (
  { workspaces }: Deps<'workspaces'>,
  { sandbox: { workspaceId, generation }, workspace }: AcquiredSandbox,
  request?: number,
): Promise<number> => {
  if (request !== undefined && !isPreviewPort(request))
    throw new AppError('invalid_request', 'port: use one from 8000 to 8999');
  for (let race = 0; race < racesMax; race += 1) {
    const now = race === 0 ? workspace : await workspaces.get(workspaceId);
    const leased = now?.sandbox?.ports ?? [];
    if (request !== undefined && leased.includes(request)) return request;
    const port = request ?? nextPort(leased);
    if (port === undefined) throw noPort();
    if (await workspaces.leasePort(workspaceId, generation, port)) return port;
  }
  throw new AppError('sandbox_unavailable', 'the sandbox is not ready', {
    recoveryActions: ['wait_and_retry'],
  });
};

const noPort = (): AppError =>
  new AppError('resource_limit_exceeded', 'all preview ports of this sandbox are leased', {
    suggestions: ['Use one that is leased already, or stop the session.'],
    recoveryActions: ['stop_session'],
  });
