/**
 * The second look at a deleted workspace: a save or a restore that was under way when its files were forgotten has
 * ended by now, so what it wrote is forgotten, too. A janitor that dies in between leaves the remains due (SN3); so does
 * one that finds pins still being made.
 */

import { stopRetryMs } from '../../domain/limits.ts';
import type { Remains } from '../../ports/remains.ts';
import type { Deps } from '../deps.ts';
import { forgetFiles } from '../sandbox/forget-files.ts';

export const forgetRemains = async (
  ports: Deps<'workspaces' | 'archive' | 'world'>,
  remains: Remains,
): Promise<void> => {
  const { workspaces, world } = ports;
  const claimed = await workspaces.postponeRemains(remains, world.now() + stopRetryMs);
  if (claimed === undefined) return;
  if (await forgetFiles(ports, claimed.id)) await workspaces.removeRemains(claimed);
};
