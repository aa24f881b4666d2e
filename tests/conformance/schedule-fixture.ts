/** Schedules and runs as the conformance tests make them: valid, small, each under ids of its own. */
import type { OwnerId, ProjectId } from '#shared/domain/ids.ts';
import type { Run } from '#shared/domain/schedule/run.ts';
import type { Schedule, ScheduleId } from '#shared/domain/schedule/schedule.ts';

export const newProjectId = (): ProjectId => crypto.randomUUID() as ProjectId;

export const newSchedule = (change: Partial<Schedule> = {}): Schedule => ({
  id: crypto.randomUUID() as ScheduleId,
  name: 'a schedule',
  cron: '* * * * *',
  prompt: 'hello',
  targets: [{ project: newProjectId() }],
  isEnabled: true,
  overlap: 'skip',
  sessions: 'resume',
  creator: { owner: 'deployment' as OwnerId, scope: 'admin', tokenHash: 'h' },
  createdAt: 1000,
  updatedAt: 1000,
  nextRunAt: 60_000,
  version: 0,
  ...change,
});

export const newRun = ({ id, targets: [target] }: Schedule, change: Partial<Run> = {}): Run => ({
  schedule: id,
  runAt: 60_000,
  part: '0',
  ...(target === undefined ? {} : { target }),
  isManual: false,
  isLate: false,
  state: 'claimed',
  claimedAt: 61_000,
  dueAt: 91_000,
  version: 0,
  ...change,
});
