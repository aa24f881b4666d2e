/** The arguments and results of the tool `schedule`, in the snake_case of its clients. */
import * as z from 'zod';
import { historyRowsDefault, historyRowsMax, scheduleTargetsMax } from '#shared/domain/schedule/limits.ts';
import type { ShownRun } from '#shared/domain/schedule/run.ts';
import { overlapBehaviors, sessionBehaviors } from '#shared/domain/schedule/schedule.ts';
import type { FieldNames } from '#shared/domain/schedule/validate.ts';
import { runStatuses, runView, type scheduleAnswer } from '../rest/schedule-view.ts';
import { after, closed, id, moment, next, oneOf, projectId, wholeFrom } from './tool-fields.ts';

export const toolNames: FieldNames = {
  cron: 'cron_expr',
  overlap: 'overlap_behavior',
  sessions: 'session_behavior',
  project: 'project_id',
  workspace: 'workspace_id',
};

const momentOrNull = z.string().nullable().describe('Time in ISO 8601, UTC; null: none.');
const anyText = z.string({ error: 'a text' });
const scheduleId = id.describe('Id of a schedule.');
const target = closed({
  project_id: projectId,
  workspace_id: id.optional().describe('Id of a workspace of the project; absent: the default one.'),
});
const fields = {
  name: anyText.describe('Name of the schedule.'),
  cron_expr: anyText.describe(
    'Cron expression of five fields, in UTC: minute, hour, day of month, month, day of week.',
  ),
  prompt: anyText.describe('Message to the agent.'),
  targets: z
    .array(target, { error: `a list of 1 to ${scheduleTargetsMax}` })
    .describe(
      "Projects and workspaces in which the schedule runs; absent: the token's own project, else the default one.",
    ),
  enabled: z
    .boolean({ error: 'true or false' })
    .describe('True: the schedule runs at its times. Absent: true.'),
  overlap_behavior: oneOf(overlapBehaviors).describe(
    'Treatment of a run that is due while a previous one is active; absent: skip.',
  ),
  session_behavior: oneOf(sessionBehaviors).describe(
    'Session of the runs: one for all of them (resume) or a new one for each; absent: resume.',
  ),
};
const { name, cron_expr, prompt, targets, enabled, overlap_behavior, session_behavior } = fields;
const optional = {
  targets: targets.optional(),
  enabled: enabled.optional(),
  overlap_behavior: overlap_behavior.optional(),
  session_behavior: session_behavior.optional(),
};

export const createScheduleArguments = closed({ name, cron_expr, prompt, ...optional });
export const updateScheduleArguments = closed({
  schedule_id: scheduleId,
  name: name.optional(),
  cron_expr: cron_expr.optional(),
  prompt: prompt.optional(),
  ...optional,
});
export const oneScheduleArguments = closed({ schedule_id: scheduleId });
export const listSchedulesArguments = closed({
  project_id: projectId.optional().describe('Id of the project whose schedules are listed.'),
  after: after(256),
});
export const historyArguments = closed({
  schedule_id: scheduleId,
  limit: wholeFrom(1, historyRowsMax).default(historyRowsDefault).describe('Largest number of runs.'),
  after: after(256),
});

export const scheduleResult = z.object({
  id: z.string().describe('Id of the schedule.'),
  name: z.string().describe('Name of the schedule.'),
  cron_expr: z.string().describe('Cron expression, in UTC.'),
  prompt: z.string().describe('Message to the agent.'),
  prompt_truncated: z.literal(true).optional().describe('Set when the prompt is cut.'),
  targets: z
    .array(
      z.object({
        project_id: z.string().describe('Id of the project.'),
        workspace_id: z.string().optional().describe('Id of the workspace; absent: the default one.'),
        pinned_session_id: z.string().optional().describe('Id of the session in which runs continue.'),
        pinned_workspace_id: z.string().optional().describe('Id of the workspace of that session.'),
      }),
    )
    .describe('Projects and workspaces in which the schedule runs.'),
  enabled: z.boolean().describe('True: the schedule runs at its times.'),
  disabled_reason: z.string().optional().describe('Reason why the platform disabled the schedule.'),
  overlap_behavior: z.string().describe('Treatment of overlapping runs: skip, queue or parallel.'),
  session_behavior: z.string().describe('Session of the runs: resume or new.'),
  next_run_at: momentOrNull,
  last_run_at: momentOrNull,
  created_at: moment,
  updated_at: moment,
});
export const listSchedulesResult = z.object({
  schedules: z.array(scheduleResult).describe('Schedules, newest first.'),
  next,
});

const runResult = z.object({
  run_at: moment.describe('Time at which the run was due.'),
  started_at: momentOrNull,
  status: z.enum(runStatuses).describe('Status of the run.'),
  needs_approval: z.literal(true).optional().describe('Set while a person has to decide a call of the run.'),
  trigger: z.string().describe('Trigger of the run: schedule or manual.'),
  project_id: z.string().optional().describe('Id of the project of the run.'),
  workspace_id: z.string().optional().describe('Id of the workspace of the run.'),
  session_id: z.string().optional().describe('Id of the session of the run.'),
  output: z.string().optional().describe('Answer of the agent, shortened.'),
  error: z.string().optional().describe('Reason why the run failed or was skipped.'),
  duration_ms: z.int().optional().describe('Duration in milliseconds.'),
  late: z.literal(true).optional().describe('Set when the run started after its due time.'),
});
export const historyResult = z.object({ history: z.array(runResult).describe('Runs, newest first.'), next });
export const triggerResult = z.object({
  id: z.string().describe('Id of the schedule.'),
  runs: z.array(runResult).describe('One run per target; the history shows their results.'),
});

export const scheduleToolView = (
  shown: z.output<typeof scheduleAnswer>,
): z.output<typeof scheduleResult> => ({
  id: shown.id,
  name: shown.name,
  cron_expr: shown.cronExpr,
  prompt: shown.prompt,
  ...(shown.promptTruncated === undefined ? {} : { prompt_truncated: shown.promptTruncated }),
  targets: shown.targets.map((one) => ({
    project_id: one.projectId,
    ...(one.workspaceId === undefined ? {} : { workspace_id: one.workspaceId }),
    ...(one.pinnedSessionId === undefined ? {} : { pinned_session_id: one.pinnedSessionId }),
    ...(one.pinnedWorkspaceId === undefined ? {} : { pinned_workspace_id: one.pinnedWorkspaceId }),
  })),
  enabled: shown.enabled,
  ...(shown.disabledReason === undefined ? {} : { disabled_reason: shown.disabledReason }),
  overlap_behavior: shown.overlapBehavior,
  session_behavior: shown.sessionBehavior,
  next_run_at: shown.nextRunAt,
  last_run_at: shown.lastRunAt,
  created_at: shown.createdAt,
  updated_at: shown.updatedAt,
});

export const runToolView = (run: ShownRun): z.output<typeof runResult> => {
  const { runAt, startedAt, projectId: project, workspaceId, sessionId, durationMs, ...shown } = runView(run);
  const { needsApproval, ...rest } = shown;
  return {
    run_at: runAt,
    started_at: startedAt,
    ...rest,
    ...(needsApproval === undefined ? {} : { needs_approval: needsApproval }),
    ...(project === undefined ? {} : { project_id: project }),
    ...(workspaceId === undefined ? {} : { workspace_id: workspaceId }),
    ...(sessionId === undefined ? {} : { session_id: sessionId }),
    ...(durationMs === undefined ? {} : { duration_ms: durationMs }),
  };
};
