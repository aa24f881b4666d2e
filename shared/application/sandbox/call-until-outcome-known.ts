/**
 * Calls a tool in a sandbox until its outcome is known: a broken connection is no outcome, so the same sandbox is
 * asked again under the same key and returns the first result. `lost` only when the sandbox is lost or stays
 * silent; `isUnsent` only when no attempt sent a byte.
 */

import { toolSilenceMsMax } from '../../domain/limits.ts';
import type { AskedOutcome, BoundedCall, Lost, SandboxCall, ToolOutcome } from '../../ports/sandbox.ts';
import type { Deps } from '../deps.ts';

const pauseMsMin = 250;
const pauseMsMax = 4000;

type CallDeps = Deps<'tools' | 'workspaces' | 'world'>;

export const callUntilKnown = (ports: CallDeps, call: SandboxCall): Promise<ToolOutcome> =>
  untilHeard(ports, call, () => ports.tools.call(call));

/** As `callUntilKnown`, for `waitMs` at most: the call may still run. */
export const callForAWhile = (ports: CallDeps, call: BoundedCall): Promise<AskedOutcome> =>
  untilHeard(ports, call, () => ports.tools.callFor(call));

type Known = Exclude<AskedOutcome, Lost>;

const isLost = (outcome: Known | Lost): outcome is Lost => outcome.status === 'lost';

const untilHeard = async <Heard extends Known>(
  ports: CallDeps,
  { sandbox: called, signal }: SandboxCall,
  ask: () => Promise<Heard | Lost>,
): Promise<Heard | Lost> => {
  let silentSince: number | undefined;
  let isUnsent = true;
  for (let pause = pauseMsMin; ; pause = Math.min(pauseMsMax, pause * 2)) {
    const answer = await ask();
    if (!isLost(answer)) return answer;
    isUnsent &&= answer.isUnsent === true;
    const { status, message } = answer;
    // An earlier attempt may have reached the sandbox.
    const outcome: Lost = { status, message, ...(isUnsent ? { isUnsent } : {}) };
    if (signal?.aborted) return outcome;
    silentSince ??= ports.world.now();
    if (ports.world.now() - silentSince > toolSilenceMsMax) return outcome;
    await ports.world.sleep(pause, signal);
    const { sandbox } = (await ports.workspaces.get(called.workspaceId)) ?? {};
    if (sandbox?.generation !== called.generation || sandbox.state !== 'ready') return outcome;
  }
};
