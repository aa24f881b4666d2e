import { expect, test } from 'vitest';
import { newProjectId, newSchedule } from '../../../tests/conformance/schedule-fixture.ts';
import { fake } from '../../../tests/fake.ts';
import type { AuditRow } from '../../domain/audit.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import type { Schedule } from '../../domain/schedule/schedule.ts';
import type { AuditLog } from '../../ports/access.ts';
import type { ProjectStore } from '../../ports/projects.ts';
import type { ScheduleStore } from '../../ports/schedules.ts';
import type { ScheduleDeps } from '../deps.ts';
import { triggerSchedule } from './manage-schedules.ts';

const now = 5000;

const triggered = async (schedule: Schedule) => {
  let written = schedule;
  const rows: AuditRow[] = [];
  const ports = fake<ScheduleDeps>({
    schedules: fake<ScheduleStore>({
      find: async () => ({ schedule, pins: new Map(), open: [] }),
      write: async (next) => {
        written = next;
        return next;
      },
    }),
    projects: fake<ProjectStore>({ get: async () => undefined }),
    scheduleDispatcher: { dispatch: async () => undefined },
    auditLog: fake<AuditLog>({
      append: async (row) => {
        rows.push(row);
      },
    }),
    telemetry: { info() {}, warn() {}, error() {}, count() {}, duration() {} },
    world: { now: () => now, uuid: () => crypto.randomUUID(), sha256: (text) => text, sleep: async () => {} },
  });
  await triggerSchedule(ports, schedule.creator, schedule.id);
  return { written, rows };
};

test.each([
  ['that never ran', {}, now],
  ['that ran before', { lastRunAt: 4000 }, now],
  ['whose last run another clock put ahead', { lastRunAt: 6000 }, 6000],
])('a run by hand of a schedule %s is its last run', async (_which, change, lastRunAt) => {
  const { written } = await triggered(newSchedule(change));
  expect(written).toMatchObject({ lastRunAt, nextRunAt: 60_000 });
});

test('the audit row of an admin’s change is of the project that the schedule is in', async () => {
  const project = newProjectId();
  const one = newSchedule({
    targets: [{ project }, { project, workspace: crypto.randomUUID() as WorkspaceId }],
  });
  expect((await triggered(one)).rows).toMatchObject([{ subject: one.id, project }]);
  const two = newSchedule({ targets: [{ project }, { project: newProjectId() }] });
  expect((await triggered(two)).rows[0]).not.toHaveProperty('project');
});
