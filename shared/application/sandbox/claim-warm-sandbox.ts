/**
 * The claim of a warm sandbox for a workspace: one write for each entry of the pool, until one is won.
 *
 * Starts nothing: open-claimed-warm-sandbox.ts continues with the claimed sandbox and has its pool entry filled again.
 */
import { claimableEntries, poolEntries } from '../../domain/pool.ts';
import type { SandboxRecord, Workspace } from '../../domain/sandbox.ts';
import type { Claimed } from '../../ports/workspace-store.ts';
import type { SandboxDeps } from '../deps.ts';
import { type NextSandbox, newRecord, slotClaimOf } from './next-sandbox.ts';
import type { SandboxRequest } from './sandbox-request.ts';

/** Its entries that may be claimed. A warm sandbox has the shared folder already, so a trial claims none. */
export const readPool = async (
  { poolSize, archive, workspaces, world }: SandboxDeps,
  request: SandboxRequest,
): Promise<readonly Workspace[]> => {
  if (poolSize === 0 || (request.isTrial && archive.mountsShared)) return [];
  return claimableEntries(await workspaces.getMany(poolEntries(poolSize)), request, world.now());
};

type WarmRequest = SandboxRequest & { readonly next: NextSandbox };

/** The record of the one that was claimed. A claim that loses tries the next pool entry; `lost` when none was won. */
export const claimWarm = async (
  ports: SandboxDeps,
  entries: readonly Workspace[],
  request: WarmRequest,
): Promise<Exclude<Claimed, 'claimed'> | SandboxRecord> => {
  const { workspaceId, flavor, template, next } = request;
  const at = ports.world.now();
  for (const entry of entries) {
    const { taskArn, address, generation } = entry.sandbox ?? { generation: 0 };
    if (taskArn === undefined || address === undefined) continue;
    const sandbox: SandboxRecord = {
      ...newRecord(ports, { flavor, template, ...next }),
      source: 'pool',
      warm: { entry: entry.id, generation },
      taskArn,
      address,
    };
    const claim = { generation: next.generation, at, sandbox, slot: slotClaimOf(ports, request) };
    const claimed = await ports.workspaces.claimWarm(workspaceId, entry, claim);
    if (claimed === 'claimed') return sandbox;
    if (claimed !== 'lost') return claimed;
  }
  return 'lost';
};
