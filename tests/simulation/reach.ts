/** The way to a simulated sandbox: a machine that cannot be reached is `sandbox_unavailable`, a wrong bearer is no answer. */

import type { WorkspaceId } from '#shared/domain/ids.ts';
import type { LiveSandbox } from '#shared/domain/sandbox.ts';
import { AppError, UnsentError } from '#shared/errors.ts';
import type { Bucket } from './bucket.ts';
import type { Ecs } from './ecs.ts';
import type { Invocation } from './invocation.ts';
import type { Ledger, Machine } from './machine.ts';
import type { RelayChecker } from './relay-checker.ts';

export type InsideOptions = {
  readonly ecs: Ecs;
  readonly bucket: Bucket;
  /** A janitor begins to save it. */
  readonly onLastSave: (sandbox: LiveSandbox) => void;
  /** Files are about to be put into a sandbox. */
  readonly onRestore: (sandbox: LiveSandbox) => void;
  /** A process receives input. */
  readonly onInput: (processId: string) => void;
  readonly relays: RelayChecker;
  /** All that was ever performed, in trials too. */
  readonly ledger: Ledger;
  /** The result of a call is about to be applied. */
  readonly onApply: (callKey: string) => void;
  readonly bearerHash: (workspaceId: WorkspaceId, generation: number) => string;
};

export const unavailable = (what: string): AppError => new AppError('sandbox_unavailable', what);
export const reached = ({ ecs }: InsideOptions, { sim }: Invocation, { address }: LiveSandbox): Machine => {
  const machine = sim.fires('linkDown') ? undefined : ecs.reach(address);
  if (machine === undefined) throw new UnsentError('the sandbox does not answer');
  return machine;
};

export const opened = (inside: InsideOptions, invocation: Invocation, sandbox: LiveSandbox): Machine => {
  const machine = reached(inside, invocation, sandbox);
  if (machine.bearer !== inside.bearerHash(sandbox.workspaceId, sandbox.generation))
    throw unavailable('the sandbox answered 401');
  return machine;
};
