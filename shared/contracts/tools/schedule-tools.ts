/** The arguments and results of the tool `schedule`, in the snake_case of its clients. */
import * as z from 'zod';
import { historyRowsDefault, historyRowsMax, scheduleTargetsMax } from '#shared/domain/schedule/limits.ts';
import type { Run } from '#shared/domain/schedule/run.ts';
import { overlapBehaviors, sessionBehaviors } from '#shared/domain/schedule/schedule.ts';
import type { FieldNames } from '#shared/domain/schedule/validate.ts';
import { runStatuses, runView, type scheduleAnswer } from '../rest/schedule-view.ts';
import { after, closed, id, moment, next, oneOf, projectId } from './tool-fields.ts';

export const toolNames: FieldNames = {
  cron: 'cron_expr',
  overlap: 'overlap_behavior',
  sessions: 'session_behavior',
  project: 'project_id',
  workspace: 'workspace_id',
};

const momentOrNull = z.string().nullable().describe('A time in ISO 8601, UTC; null: there is none.');
const anyText = z.string({ error: 'a text' });
const scheduleId = id.describe('The id of a schedule.');
const target = closed({
  project_id: projectId,
  workspace_id: id.optional().describe('A workspace of it; absent: its default one.'),
});
const fields = {
  name: anyText.describe('What it is called.'),
  cron_expr: anyText.describe('Five fields, in UTC: minute, hour, day of month, month, day of week.'),
  prompt: anyText.describe('What is said to the agent.'),
  targets: z
    .array(target, { error: `a list of 1 to ${scheduleTargetsMax}` })
    .describe('Where it runs; absent: in the own project of the token, else in the default one.'),
  enabled: z.boolean({ error: 'true or false' }).describe('Whether it runs by itself; absent: true.'),
  overlap_behavior: oneOf(overlapBehaviors).describe(
    'What happens to a run while a former one goes on; absent: skip.',
  ),
  session_behavior: oneOf(sessionBehaviors).describe(
    'Whether runs go on in one session, or each has a new one; absent: resume.',
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
  project_id: projectId.optional().describe('Only those that run in it.'),
  after: after(256),
});
const rows = `a whole number from 1 to ${historyRowsMax}`;
export const historyArguments = closed({
  schedule_id: scheduleId,
  limit: z
    .int({ error: rows })
    .min(1, { error: rows })
    .max(historyRowsMax, { error: rows })
    .default(historyRowsDefault)
    .describe('How many rows at most.'),
  after: after(256),
});

export const scheduleResult = z.object({
  id: z.string().describe('Its id.'),
  name: z.string().describe('What it is called.'),
  cron_expr: z.string().describe('When it runs, in UTC.'),
  prompt: z.string().describe('What is said to the agent.'),
  prompt_truncated: z.literal(true).optional().describe('The prompt is cut.'),
  targets: z
    .array(
      z.object({
        project_id: z.string().describe('The project.'),
        workspace_id: z.string().optional().describe('The workspace; absent: the default one.'),
        pinned_session_id: z.string().optional().describe('Where its runs go on.'),
        pinned_workspace_id: z.string().optional().describe('The workspace of that session.'),
      }),
    )
    .describe('Where it runs.'),
  enabled: z.boolean().describe('Whether it runs by itself.'),
  disabled_reason: z.string().optional().describe('Why the platform itself disabled it.'),
  overlap_behavior: z.string().describe('skip, queue or parallel.'),
  session_behavior: z.string().describe('resume or new.'),
  next_run_at: momentOrNull,
  last_run_at: momentOrNull,
  created_at: moment,
  updated_at: moment,
});
export const listSchedulesResult = z.object({
  schedules: z.array(scheduleResult).describe('Newest first.'),
  next,
});

export const runResult = z.object({
  run_at: moment.describe('The moment it was for.'),
  started_at: momentOrNull,
  status: z.enum(runStatuses).describe('How it stands or ended.'),
  trigger: z.string().describe('schedule or manual.'),
  project_id: z.string().optional().describe('Where it ran.'),
  workspace_id: z.string().optional().describe('The workspace it was for.'),
  session_id: z.string().optional().describe('The session it is said in.'),
  output: z.string().optional().describe('What the agent answered, cut.'),
  error: z.string().optional().describe('Why it failed or was skipped.'),
  duration_ms: z.int().optional().describe('Milliseconds it took.'),
  late: z.literal(true).optional().describe('Its moment had passed when it was found.'),
});
export const historyResult = z.object({ history: z.array(runResult).describe('Newest first.'), next });
export const triggerResult = z.object({
  id: z.string().describe('The id of the schedule.'),
  runs: z.array(runResult).describe('One per target; the history tells how they end.'),
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

export const runToolView = (run: Run): z.output<typeof runResult> => {
  const { runAt, startedAt, projectId: project, workspaceId, sessionId, durationMs, ...rest } = runView(run);
  return {
    run_at: runAt,
    started_at: startedAt,
    ...rest,
    ...(project === undefined ? {} : { project_id: project }),
    ...(workspaceId === undefined ? {} : { workspace_id: workspaceId }),
    ...(sessionId === undefined ? {} : { session_id: sessionId }),
    ...(durationMs === undefined ? {} : { duration_ms: durationMs }),
  };
};
