/**
 * Calls a tool in a sandbox until its outcome is known: a broken connection is no outcome, so the same sandbox is
 * asked again under the same key and returns the first result. `lost` only when the sandbox is lost or stays
 * silent.
 */

import { toolSilenceMsMax } from '../../domain/limits.ts';
import type { SandboxCall, ToolOutcome } from '../../ports/sandbox.ts';
import type { Deps } from '../deps.ts';

const pauseMsMin = 250;
const pauseMsMax = 4000;

export const callUntilKnown = async (
  ports: Deps<'tools' | 'workspaces' | 'world'>,
  call: SandboxCall,
): Promise<ToolOutcome> => {
  let silentSince: number | undefined;
  for (let pause = pauseMsMin; ; pause = Math.min(pauseMsMax, pause * 2)) {
    const outcome = await ports.tools.call(call);
    if (outcome.status !== 'lost' || call.signal?.aborted) return outcome;
    silentSince ??= ports.world.now();
    if (ports.world.now() - silentSince > toolSilenceMsMax) return outcome;
    await ports.world.sleep(pause, call.signal);
    const { sandbox } = (await ports.workspaces.get(call.sandbox.workspaceId)) ?? {};
    if (sandbox?.generation !== call.sandbox.generation || sandbox.state !== 'ready') return outcome;
  }
};
