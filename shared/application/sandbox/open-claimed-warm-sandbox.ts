/**
 * The requests after the claim of a warm sandbox, side by side: for its network as it is by now, for the next entry of the pool, for
 * the workspace as it is once the claim is made, and with the workspace's own bearer to its server.
 *
 * None of them depends on another. A claim that found the workspace moved is left to the caller, who reads it again.
 */
import { acquireStep, type LiveSandbox, type SandboxRecord, type Workspace } from '../../domain/sandbox.ts';
import type { SandboxDeps } from '../deps.ts';
import { opens, type ReadySandbox, readyOpened } from './make-sandbox-ready.ts';
import type { SandboxRequest } from './sandbox-request.ts';
import { settleNetwork } from './start-sandbox.ts';

/** `moved`: to be read again at once. `silent`: its server does not answer yet. */
export const openClaimedWarm = async (
  ports: SandboxDeps,
  claimed: { readonly workspace: Workspace; readonly record: SandboxRecord },
  request: SandboxRequest,
): Promise<
  (ReadySandbox & { readonly sandbox: LiveSandbox; readonly workspace: Workspace }) | 'moved' | 'silent'
> => {
  const { record } = claimed;
  const sandbox = liveSandbox({ ...claimed.workspace, sandbox: record }, record.address ?? '');
  const [isSettled, workspace, isOpen] = await Promise.all([
    settleNetwork(ports, request, record),
    ports.workspaces.get(request.workspaceId),
    opens(ports, record, sandbox),
    ports.invoker.fillPool(),
  ]);
  if (!isOpen) return 'silent';
  if (!isSettled || workspace === undefined || !isUnready(workspace, record, ports.world.now()))
    return 'moved';
  const ready = await readyOpened(ports, workspace, sandbox);
  return ready === undefined ? 'moved' : { ...ready, sandbox, workspace };
};

/** No other caller has made it ready, restores it or ended it. */
const isUnready = ({ sandbox }: Workspace, { generation }: SandboxRecord, now: number): boolean =>
  sandbox?.generation === generation && acquireStep(sandbox, now).step === 'probe';

export const liveSandbox = ({ id, sandbox }: Workspace, address: string): LiveSandbox => ({
  workspaceId: id,
  generation: sandbox?.generation ?? 0,
  address,
  flavor: sandbox?.flavor ?? 'micro',
});
