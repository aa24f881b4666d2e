/**
 * Holds a claim to restore while the restore runs: it is renewed in short steps, so that the claim of a function that died is
 * free for those who wait long before they give up.
 *
 * A restore whose claim has passed to another is ended by the sandbox itself, and makes nothing ready (L2).
 */
import type { WorkspaceId } from '../../domain/ids.ts';
import { restoreHoldMs, restoreMsMax, restoreRenewMs } from '../../domain/limits.ts';
import type { SandboxDeps } from '../deps.ts';
import { renewUntilStopped } from '../renew-until-stopped.ts';

type Held = { readonly workspaceId: WorkspaceId; readonly generation: number; readonly claim: number };

export const whileHeld = async <T>(
  ports: Pick<SandboxDeps, 'workspaces' | 'world' | 'telemetry'>,
  { workspaceId, generation, claim }: Held,
  restore: () => Promise<T>,
): Promise<T> => {
  const { workspaces, world } = ports;
  const endsAt = world.now() + restoreMsMax;
  const held = renewUntilStopped(ports, {
    name: 'a claim to restore',
    everyMs: restoreRenewMs,
    renew: async () => {
      const until = Math.min(world.now() + restoreHoldMs, endsAt);
      return world.now() < endsAt && workspaces.renewRestore(workspaceId, generation, { claim, until });
    },
  });
  try {
    return await restore();
  } finally {
    // The caller changes the claim next: no renewal may come after that.
    await held.stop();
  }
};
