/**
 * Holds a claim to restore while the restore runs. The claim is renewed in short steps, so that after a function died it is
 * free long before other callers give up waiting.
 *
 * If the claim has passed to another function, the sandbox itself ends the restore, which makes nothing ready (L2).
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
