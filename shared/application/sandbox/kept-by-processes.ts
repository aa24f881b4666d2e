/**
 * Sandboxes that stay because a process or a call in them runs. A sandbox is asked when all of its sessions are idle, or its slot is
 * needed, and once more before a stop, so that the records say which processes ended with it.
 *
 * Only a sandbox that ever had a process is asked for processes.
 */
import { keptUntil } from '../../domain/process.ts';
import type { Workspace } from '../../domain/sandbox.ts';
import type { Deps, RoomDeps, StopDeps } from '../deps.ts';
import { callsIn, liveSandboxOf, processesOf, recordEnds } from './sandbox-processes.ts';
import { saveWorkspace } from './save-workspace.ts';

/** The time of the next look; undefined when no process keeps it. A kept one is saved: nothing else does. */
export const keptByProcesses = async (ports: StopDeps, workspace: Workspace): Promise<number | undefined> => {
  const live = liveSandboxOf(workspace);
  const { until, isSilent } = await look(ports, workspace);
  if (until !== undefined && !isSilent && live !== undefined) await saveWorkspace(ports, live, { workspace });
  return until;
};

/** True when its processes keep a sandbox whose slot is needed. */
export const isKeptByProcesses = async (ports: RoomDeps, workspace: Workspace): Promise<boolean> =>
  (await look(ports, workspace)).until !== undefined;

/**
 * True when a call runs in a sandbox whose slot is needed: what a client runs in an agent's session is in no record. False where
 * it cannot be asked.
 */
export const isKeptByCalls = async (ports: RoomDeps, workspace: Workspace): Promise<boolean> => {
  const live = liveSandboxOf(workspace);
  if (live === undefined) return false;
  try {
    return (await callsIn(ports, live)) > 0;
  } catch (error) {
    ports.telemetry.warn('an idle sandbox was not asked for its calls', { workspaceId: workspace.id, error });
    return false;
  }
};

type Look = { readonly until?: number | undefined; readonly isSilent: boolean };

const look = async (ports: Deps<'link' | 'telemetry' | 'world'>, workspace: Workspace): Promise<Look> => {
  const { id, sandbox } = workspace;
  const live = liveSandboxOf(workspace);
  if (sandbox?.hasProcesses === undefined || live === undefined) return { isSilent: false };
  const now = ports.world.now();
  try {
    return { until: keptUntil(sandbox, await processesOf(ports, live), now), isSilent: false };
  } catch (error) {
    ports.telemetry.warn('an idle sandbox was not asked for its processes', { workspaceId: id, error });
    // One that stays silent ends with its lifetime.
    const until = keptUntil(sandbox, [{ state: 'running', isPty: false, attached: 0 }], now);
    return { until, isSilent: true };
  }
};

/** Records the ends that were not requested. A failure only makes the count of lost processes too high. */
export const recordLastEnds = async (
  ports: StopDeps,
  { id, sandbox }: Pick<Workspace, 'id' | 'sandbox'>,
): Promise<void> => {
  if (sandbox?.hasProcesses === undefined || sandbox.address === undefined) return;
  const { generation, address, flavor } = sandbox;
  try {
    const live = { workspaceId: id, generation, address, flavor };
    const [records, known] = await Promise.all([ports.processes.list(id), processesOf(ports, live)]);
    await recordEnds(ports, id, { records, known });
  } catch (error) {
    ports.telemetry.warn('the ends of processes were not recorded', { workspaceId: id, error });
  }
};
