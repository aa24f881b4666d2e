/**
 * A request about processes to a sandbox that runs; none is started.
 *
 * A sandbox that is recorded as ready and does not answer is verified by functions that may: one that is lost counts as none.
 */
import { watchRelayWanted } from '../../contracts/relay/wanted.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import { isAppError } from '../../errors.ts';
import type { LinkRequest } from '../../ports/sandbox.ts';
import type { ProcessDeps, SandboxDeps } from '../deps.ts';
import { liveSandboxOf } from '../sandbox/sandbox-processes.ts';
import { onRelayWanted, type RelayUse, startRelay } from '../sandbox/start-relay.ts';
import { verifySandbox } from '../sandbox/verify-sandbox.ts';

export type SandboxQuestion = LinkRequest & {
  /** A client that follows for a while: programs may need the network for it. */
  readonly usedBy?: RelayUse | undefined;
};

/** The sandbox's answer, whatever its status; undefined when no sandbox runs. */
export const askSandbox = async (
  ports: ProcessDeps | SandboxDeps,
  workspaceId: WorkspaceId,
  { usedBy, ...request }: SandboxQuestion,
): Promise<Response | undefined> => {
  const workspace = await ports.workspaces.get(workspaceId);
  const live = workspace && liveSandboxOf(workspace);
  if (workspace === undefined || live === undefined) return undefined;
  const starter = 'host' in ports ? ports.invoker : ports.relayStarter;
  const { link, world } = ports;
  if (usedBy !== undefined && starter !== undefined)
    await startRelay(starter, { sandbox: live, workspace }, { ...usedBy, link });
  try {
    const response = await link.fetch(live, request);
    if (usedBy === undefined || response.body === null) return response;
    const watched = watchRelayWanted(onRelayWanted(starter, live, { ...usedBy, link, world }));
    const { status, headers } = response;
    return new Response(response.body.pipeThrough(watched), { status, headers });
  } catch (error) {
    if (!isAppError(error) || error.code !== 'sandbox_unavailable') throw error;
    if ('host' in ports && (await verifySandbox(ports, workspace, live)) === 'gone') return undefined;
    throw error;
  }
};
