/**
 * Holds a claim to restore while the restore runs: it is renewed in short steps, so that the claim of a function that died is
 * free for those who wait long before they give up.
 *
 * A restore whose claim has passed to another is ended by the sandbox itself, and makes nothing ready (L2).
 */
import type { WorkspaceId } from '../../domain/ids.ts';
import { restoreHoldMs, restoreMsMax, restoreRenewMs } from '../../domain/limits.ts';
import type { SandboxDeps } from '../deps.ts';

type Held = { readonly workspaceId: WorkspaceId; readonly generation: number; readonly claim: number };

export const whileHeld = async <T>(
  ports: Pick<SandboxDeps, 'workspaces' | 'world' | 'telemetry'>,
  held: Held,
  restore: () => Promise<T>,
): Promise<T> => {
  const over = new AbortController();
  const renewing = renew(ports, held, over.signal);
  try {
    return await restore();
  } finally {
    over.abort();
    // The caller changes the claim next: no renewal may come after that.
    await renewing;
  }
};

const renew = async (
  { workspaces, world, telemetry }: Pick<SandboxDeps, 'workspaces' | 'world' | 'telemetry'>,
  { workspaceId, generation, claim }: Held,
  signal: AbortSignal,
): Promise<void> => {
  const endsAt = world.now() + restoreMsMax;
  for (;;) {
    await world.sleep(restoreRenewMs, signal);
    const now = world.now();
    if (signal.aborted || now >= endsAt) return;
    const until = Math.min(now + restoreHoldMs, endsAt);
    try {
      if (!(await workspaces.renewRestore(workspaceId, generation, { claim, until }))) return;
    } catch (error) {
      telemetry.warn('a claim to restore was not renewed', { workspaceId, error });
    }
  }
};
