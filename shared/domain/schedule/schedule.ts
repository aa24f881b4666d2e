/**
 * A schedule: a prompt that is said to agents in the creator's name whenever its cron expression comes true.
 *
 * Only vocabulary: `validate.ts` decides what may be made, `next-step.ts` what a schedule waits for, `overlap.ts` and
 * `pinning.ts` what a run does. Rules and invariants J1..J8: docs/spec/schedules.md.
 */
import type { ProjectId, SessionId, WorkspaceId } from '../ids.ts';
import type { Principal } from '../principal.ts';

export type ScheduleId = string & { readonly brand: 'ScheduleId' };

/** What happens to a run while a former one of the same target has not ended. */
export const overlapBehaviors = ['skip', 'queue', 'parallel'] as const;
export type OverlapBehavior = (typeof overlapBehaviors)[number];

/** Whether runs go on in one session, or each has its own. */
export const sessionBehaviors = ['resume', 'new'] as const;
export type SessionBehavior = (typeof sessionBehaviors)[number];

export type ScheduleTarget = {
  readonly project: ProjectId;
  /** Absent: the default one of the project. */
  readonly workspace?: WorkspaceId;
};

/** Where the runs of a target go on. */
export type Pin = { readonly session: SessionId; readonly workspace: WorkspaceId };

export type Schedule = {
  readonly id: ScheduleId;
  readonly name: string;
  readonly cron: string;
  readonly prompt: string;
  readonly targets: readonly ScheduleTarget[];
  readonly isEnabled: boolean;
  readonly overlap: OverlapBehavior;
  readonly sessions: SessionBehavior;
  /** In whose name it runs: what the credential was, never the credential. */
  readonly creator: Principal;
  /** Why the platform itself disabled it. */
  readonly disabledReason?: string;
  /** Epoch milliseconds, as every time here. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Present exactly while it is enabled. */
  readonly nextRunAt?: number;
  readonly lastRunAt?: number;
  /** The run for which the scheduler has taken the order to wake us. */
  readonly armedFor?: number;
  /** It is gone for everybody but for whoever clears up after it. */
  readonly isDeleted?: true;
  /** Counts writes: a change names the one it read. */
  readonly version: number;
};

/** Tells the targets of one schedule apart: no two are the same, and one that is named again keeps its pin. */
export const targetKey = ({ project, workspace }: ScheduleTarget): string =>
  `${project}/${workspace ?? 'default'}`;
