/** The two counters of slots: execution sessions count for their owner, agent sessions for their project. */
import { isUuid, type OwnerId, type ProjectId } from './ids.ts';
import type { Session, SessionKind } from './session.ts';

/** The holder of slots: an owner or a project. */
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

/** The operator's limits. */
export type SlotLimits = {
  /** Slots of execution sessions, per owner. */
  readonly executionMax: number;
  /** Slots of agent sessions, per project. */
  readonly agentMax: number;
  /** Agent sessions that had a message and have not ended, per project. */
  readonly conversationsMax: number;
  /** True when an idle sandbox gives way to one that is needed. */
  readonly evictsIdle: boolean;
};

export const slotsMax = (kind: SessionKind, { executionMax, agentMax }: SlotLimits): number =>
  kind === 'execution' ? executionMax : agentMax;
