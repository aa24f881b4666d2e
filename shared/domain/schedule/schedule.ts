/**
 * A schedule: a prompt that is sent to agents in the creator's name whenever its cron expression matches.
 *
 * Only vocabulary: `validate.ts` decides what may be made, `next-step.ts` what a schedule waits for,
 * `run-start.ts` what a run does. Rules and invariants J1..J8: docs/spec/schedules.md.
 */
import type { ProjectId, SessionId, WorkspaceId } from '../ids.ts';
import type { Principal } from '../principal.ts';

export type ScheduleId = string & { readonly brand: 'ScheduleId' };

/** The behavior of a run while an earlier one of the same target has not ended. */
export const overlapBehaviors = ['skip', 'queue', 'parallel'] as const;
export type OverlapBehavior = (typeof overlapBehaviors)[number];

/** `resume`: runs continue one session; `new`: each has its own. */
export const sessionBehaviors = ['resume', 'new'] as const;
export type SessionBehavior = (typeof sessionBehaviors)[number];

export type ScheduleTarget = {
  readonly project: ProjectId;
  /** Absent: the project's default one. */
  readonly workspace?: WorkspaceId;
};

/** The session and workspace in which the runs of a target continue. */
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
  /** The principal in whose name it runs: never the credential itself. */
  readonly creator: Principal;
  /** The reason for which the platform itself disabled it. */
  readonly disabledReason?: string;
  /** Epoch milliseconds, as every time here. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Present exactly while it is enabled. */
  readonly nextRunAt?: number;
  readonly lastRunAt?: number;
  /** The run for which an invocation is scheduled. */
  readonly armedFor?: number;
  /** Deleted for clients; only the clean-up still sees it. */
  readonly isDeleted?: true;
  /** The number of writes: a change names the one it read. */
  readonly version: number;
};

/** The identity of a target within one schedule: no two are equal, and one that is named again keeps its pin. */
export const targetKey = ({ project, workspace }: ScheduleTarget): string =>
  `${project}/${workspace ?? 'default'}`;

/** In a listing a long prompt is cut. */
export type ListedSchedule = Schedule & { readonly isPromptCut: boolean };
