/**
 * Calls a tool in a sandbox until its outcome is known: a broken connection is no outcome, so the same sandbox is
 * asked again under the same key and returns the first result. `lost` only when the sandbox is lost or stays
 * silent.
 */
import { toolSilenceMsMax } from '../../domain/limits.ts';
import type { SandboxCall, SandboxTools, ToolOutcome } from '../../ports/sandbox-tools.ts';
import type { WorkspaceStore } from '../../ports/workspace-store.ts';
import type { World } from '../../ports/world.ts';

export type CallPorts = {
  readonly tools: SandboxTools;
  readonly workspaces: Pick<WorkspaceStore, 'get'>;
  readonly world: World;
};

const pauseMsMin = 250;
const pauseMsMax = 4000;

export const callUntilKnown = async (ports: CallPorts, call: SandboxCall): Promise<ToolOutcome> => {
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
