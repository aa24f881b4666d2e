/** Schedules, pins and runs as the table holds them, decoded on their way in. */
import * as z from 'zod';
import type { MessageId, ProjectId, SessionId, WorkspaceId } from '#shared/domain/ids.ts';
import { endedRunStates, openRunStates, type Run } from '#shared/domain/schedule/run.ts';
import {
  overlapBehaviors,
  type Pin,
  type Schedule,
  type ScheduleId,
  type ScheduleTarget,
  sessionBehaviors,
} from '#shared/domain/schedule/schedule.ts';
import { onFirstUse } from '../on-first-use.ts';
import { principalRecord } from './access-records.ts';
import { count, epochMs, id } from './fields.ts';

const yes = z.literal(true);

const target = onFirstUse(
  (): z.ZodType<ScheduleTarget> =>
    z.object({
      project: id<ProjectId>(),
      workspace: id<WorkspaceId>().exactOptional(),
    }),
);

export const scheduleRecord = onFirstUse(
  (): z.ZodType<Schedule> =>
    z.object({
      id: id<ScheduleId>(),
      name: z.string(),
      cron: z.string(),
      prompt: z.string(),
      targets: z.array(target()),
      isEnabled: z.boolean(),
      overlap: z.enum(overlapBehaviors),
      sessions: z.enum(sessionBehaviors),
      creator: principalRecord(),
      disabledReason: z.string().exactOptional(),
      createdAt: epochMs,
      updatedAt: epochMs,
      nextRunAt: epochMs.exactOptional(),
      lastRunAt: epochMs.exactOptional(),
      armedFor: epochMs.exactOptional(),
      isDeleted: yes.exactOptional(),
      version: count,
    }),
);

export const pinRecord = onFirstUse(
  (): z.ZodType<Pin> =>
    z.object({
      session: id<SessionId>(),
      workspace: id<WorkspaceId>(),
    }),
);

export const runRecord = onFirstUse(
  (): z.ZodType<Run> =>
    z.object({
      schedule: id<ScheduleId>(),
      runAt: epochMs,
      part: z.string().min(1),
      target: target().exactOptional(),
      isManual: z.boolean(),
      isLate: z.boolean(),
      state: z.enum([...openRunStates, ...endedRunStates]),
      claimedAt: epochMs,
      startedAt: epochMs.exactOptional(),
      endedAt: epochMs.exactOptional(),
      session: id<SessionId>().exactOptional(),
      message: id<MessageId>().exactOptional(),
      since: z.number().int().min(-1).exactOptional(),
      hasBegun: yes.exactOptional(),
      isAlone: yes.exactOptional(),
      output: z.string().exactOptional(),
      problem: z.string().exactOptional(),
      dueAt: epochMs.exactOptional(),
      version: count,
    }),
);
