/**
 * The next sandbox of a workspace, as a claim writes it: its record, with what its session wants and what the last one left, and the
 * slot that it takes.
 */
import type { Network } from '../../domain/egress-policy.ts';
import { lossOf, processesBefore, type SandboxRecord, type Workspace } from '../../domain/sandbox.ts';
import { slotsMax } from '../../domain/slot-holder.ts';
import type { SlotClaim } from '../../ports/workspace-store.ts';
import type { SandboxDeps } from '../deps.ts';
import type { SandboxRequest } from './sandbox-request.ts';

type Given = Pick<
  SandboxRecord,
  'lost' | 'processesOf' | 'lifetimeMs' | 'environment' | 'cwd' | 'network' | 'isTrial' | 'hasProcesses'
>;

export type NextSandbox = Given & Pick<SandboxRecord, 'generation' | 'slot'>;

type Networked = SandboxRequest & { readonly network: Network | undefined };

export const nextSandbox = (generation: number, { sandbox }: Workspace, request: Networked): NextSandbox => {
  const { holder, session } = request.slot;
  const { lifetimeMs, environment, cwd, network, isTrial, hasProcesses } = request;
  const [lost, processesOf] = [lossOf(sandbox), processesBefore(sandbox)];
  const given = { lost, processesOf, lifetimeMs, environment, cwd, network, isTrial, hasProcesses };
  return {
    generation,
    slot: { holder, session },
    ...(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Given),
  };
};

export const newRecord = (
  { world }: SandboxDeps,
  fields: NextSandbox & Pick<SandboxRecord, 'flavor' | 'template'>,
): SandboxRecord => ({ state: 'starting', source: 'cold', requestedAt: world.now(), ...fields });

export const slotClaimOf = (
  { slotLimits }: SandboxDeps,
  { slot: { kind, known }, payers }: SandboxRequest,
): SlotClaim => ({ known, slotsMax: slotsMax(kind, slotLimits), payers });
