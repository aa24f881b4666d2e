/**
 * The bodies and queries of schedules in REST. `domain/schedule/validate.ts` decides what may be scheduled and
 * words the refusals; the bodies here describe what is expected.
 */
import * as z from 'zod';
import {
  historyRowsDefault,
  historyRowsMax,
  scheduleNameCharactersMax,
  schedulePromptBytesMax,
  scheduleTargetsMax,
} from '#shared/domain/schedule/limits.ts';
import { overlapBehaviors, sessionBehaviors } from '#shared/domain/schedule/schedule.ts';
import type { FieldNames, ScheduleOptions } from '#shared/domain/schedule/validate.ts';
import { afterPage, givenUuid } from '../fields.ts';

export const restNames: FieldNames = {
  cron: 'cronExpr',
  overlap: 'overlapBehavior',
  sessions: 'sessionBehavior',
  project: 'projectId',
  workspace: 'workspaceId',
};

export const targetFields = {
  projectId: givenUuid,
  workspaceId: givenUuid.optional().describe('Id of the workspace; absent: the default one of the project.'),
};
export const scheduleFields = {
  name: z.string().max(scheduleNameCharactersMax),
  cronExpr: z
    .string()
    .describe('Cron expression of five fields, in UTC: minute, hour, day of month, month, day of week.'),
  prompt: z.string().describe(`Message to the agent, at most ${schedulePromptBytesMax} bytes.`),
  targets: z
    .array(z.object(targetFields))
    .min(1)
    .max(scheduleTargetsMax)
    .describe(
      "Projects and workspaces in which the schedule runs; absent: the token's own project, else the default one.",
    ),
  enabled: z.boolean().describe('True: the schedule runs at its times. Absent: true.'),
  overlapBehavior: z
    .enum(overlapBehaviors)
    .describe('Treatment of a run that is due while a previous one is active; absent: skip.'),
  sessionBehavior: z
    .enum(sessionBehaviors)
    .describe('Session of the runs: one for all of them (resume) or a new one for each; absent: resume.'),
};

export const createScheduleBody = z
  .object(scheduleFields)
  .partial()
  .required({ name: true, cronExpr: true, prompt: true });
/** Given fields replace the existing ones. */
export const changeScheduleBody = z.object(scheduleFields).partial();

export const scheduleQuery = z.object({
  project: givenUuid
    .optional()
    .describe("Id of the project whose schedules are listed; absent: the token's own project, else all."),
  after: afterPage,
});

export const historyQuery = z.object({
  limit: z.coerce.number().int().min(1).max(historyRowsMax).default(historyRowsDefault),
  after: afterPage,
});

/** The options in a body, unchecked: the domain reports what is wrong with them. */
export const optionsFrom = (given: Readonly<Record<string, unknown>>): ScheduleOptions => ({
  name: given['name'],
  cron: given['cronExpr'],
  prompt: given['prompt'],
  targets: given['targets'],
  enabled: given['enabled'],
  overlap: given['overlapBehavior'],
  sessions: given['sessionBehavior'],
});
