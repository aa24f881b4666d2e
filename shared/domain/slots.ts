/** Slots: how many sessions an owner or a project may have at once, and which sessions hold one. */
import type { Flavor } from './flavor.ts';
import { isUuid, type OwnerId, type ProjectId, type SessionId } from './ids.ts';
import type { Session, SessionKind } from './session.ts';

/** Active agent sessions of one project. */
export const agentSessionsMax = 10;

/** The holder of slots: execution sessions count per owner, agent sessions per project. */
export type SlotHolder = string & { readonly brand: 'SlotHolder' };

export const executionSlots = (owner: OwnerId): SlotHolder => `execution#${owner}` as SlotHolder;
export const agentSlots = (project: ProjectId): SlotHolder => `agent#${project}` as SlotHolder;

/** The project of a holder: a deployment or a person belongs to none. */
export const projectOfSlots = (holder: SlotHolder): ProjectId | undefined => {
  const [, id = ''] = holder.split('#');
  return isUuid(id) ? (id as ProjectId) : undefined;
};

export const slotHolderOf = ({
  kind,
  owner,
  project,
}: Pick<Session, 'kind' | 'owner' | 'project'>): SlotHolder =>
  kind === 'execution' ? executionSlots(owner) : agentSlots(project);

/** A slot that is taken. */
export type Slot = { readonly session: SessionId; readonly flavor: Flavor; readonly takenAt: number };

export type SlotLimits = { readonly executionMax: number; readonly agentMax: number };

export const slotsMax = (kind: SessionKind, { executionMax, agentMax }: SlotLimits): number =>
  kind === 'execution' ? executionMax : agentMax;
