/** A schedule and its runs as REST shows them. */
import * as z from 'zod';
import { deciderOf } from '#shared/domain/principal.ts';
import { promptExcerptCharactersMax, runOutputCharactersMax } from '#shared/domain/schedule/limits.ts';
import type { ScheduleState } from '#shared/domain/schedule/next-step.ts';
import type { RunState, ShownRun } from '#shared/domain/schedule/run.ts';
import { type ListedSchedule, targetKey } from '#shared/domain/schedule/schedule.ts';
import { iso } from '../fields.ts';
import { scheduleFields, targetFields } from './schedule-bodies.ts';

const time = z.iso.datetime();

export const scheduleAnswer = z
  .object({
    id: z.uuid(),
    ...scheduleFields,
    targets: z.array(
      z.object({
        ...targetFields,
        pinnedSessionId: z.uuid().optional().describe('Id of the session in which runs continue.'),
        pinnedWorkspaceId: z.uuid().optional(),
      }),
    ),
    promptTruncated: z
      .literal(true)
      .optional()
      .describe(`Set when the prompt is cut: lists show ${promptExcerptCharactersMax} characters.`),
    creator: z
      .object({ id: z.string(), name: z.string().optional() })
      .describe(
        'Token or person with whose permissions the schedule runs, as the audit log names the actor.',
      ),
    disabledReason: z.string().optional().describe('Reason why the platform disabled the schedule.'),
    nextRunAt: time.nullable(),
    lastRunAt: time.nullable(),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'Schedule' });
export const schedulesAnswer = z.object({ schedules: z.array(scheduleAnswer), next: z.string().optional() });

export const runStatuses = ['queued', 'running', 'success', 'failed', 'skipped'] as const;
export const runAnswer = z
  .object({
    runAt: time.describe('Time at which the run was due.'),
    startedAt: time.nullable(),
    status: z.enum(runStatuses),
    needsApproval: z
      .literal(true)
      .optional()
      .describe('Set while the run waits until a person decides a call of its session, or of one under it.'),
    trigger: z.enum(['schedule', 'manual']),
    projectId: z.uuid().optional(),
    workspaceId: z.uuid().optional(),
    sessionId: z.uuid().optional(),
    output: z
      .string()
      .optional()
      .describe(`Answer of the agent, at most ${runOutputCharactersMax} characters.`),
    error: z.string().optional().describe('Reason why the run failed or was skipped.'),
    durationMs: z.number().int().optional(),
    late: z.literal(true).optional().describe('Set when the run started after its due time.'),
  })
  .meta({ id: 'ScheduleRun' });
export const historyAnswer = z.object({ history: z.array(runAnswer), next: z.string().optional() });
export const triggerAnswer = z.object({ id: z.uuid(), runs: z.array(runAnswer) });

const isoOrNull = (epochMs: number | undefined): string | null =>
  epochMs === undefined ? null : iso(epochMs);

export const scheduleView = ({
  schedule,
  pins,
}: Pick<ScheduleState, 'schedule' | 'pins'>): z.output<typeof scheduleAnswer> => {
  const { id, name, cron, prompt, isEnabled, overlap, sessions, disabledReason } = schedule;
  const { kind: _, ...creator } = deciderOf(schedule.creator);
  return {
    id,
    name,
    cronExpr: cron,
    prompt,
    targets: schedule.targets.map((one) => {
      const pin = pins.get(targetKey(one));
      return {
        projectId: one.project,
        ...(one.workspace === undefined ? {} : { workspaceId: one.workspace }),
        ...(pin === undefined ? {} : { pinnedSessionId: pin.session, pinnedWorkspaceId: pin.workspace }),
      };
    }),
    enabled: isEnabled,
    overlapBehavior: overlap,
    sessionBehavior: sessions,
    creator,
    ...(disabledReason === undefined ? {} : { disabledReason }),
    nextRunAt: isoOrNull(schedule.nextRunAt),
    lastRunAt: isoOrNull(schedule.lastRunAt),
    createdAt: iso(schedule.createdAt),
    updatedAt: iso(schedule.updatedAt),
  };
};

/** Without its pins, which a listing does not read. */
export const listedView = ({
  isPromptCut,
  ...schedule
}: ListedSchedule): z.output<typeof scheduleAnswer> => ({
  ...scheduleView({ schedule, pins: new Map() }),
  ...(isPromptCut ? { promptTruncated: true } : {}),
});

const shownStatus: Readonly<Record<RunState, (typeof runStatuses)[number]>> = {
  claimed: 'running',
  queued: 'queued',
  running: 'running',
  success: 'success',
  failed: 'failed',
  skipped: 'skipped',
};

export const runView = (run: ShownRun): z.output<typeof runAnswer> => {
  const { runAt, startedAt, endedAt, target: where, session, output, problem } = run;
  return {
    runAt: iso(runAt),
    startedAt: isoOrNull(startedAt),
    status: shownStatus[run.state],
    ...(run.needsApproval === undefined ? {} : { needsApproval: run.needsApproval }),
    trigger: run.isManual ? 'manual' : 'schedule',
    ...(where === undefined ? {} : { projectId: where.project }),
    ...(where?.workspace === undefined ? {} : { workspaceId: where.workspace }),
    ...(session === undefined ? {} : { sessionId: session }),
    ...(output === undefined ? {} : { output }),
    ...(problem === undefined ? {} : { error: problem }),
    ...(startedAt === undefined || endedAt === undefined
      ? {}
      : { durationMs: Math.max(0, endedAt - startedAt) }),
    ...(run.isLate ? { late: true } : {}),
  };
};
