import { describe, expect, test } from 'vitest';
import { newProjectId, newSchedule } from '../../../tests/conformance/schedule-fixture.ts';
import { fake } from '../../../tests/fake.ts';
import type { AuditRow } from '../../domain/audit.ts';
import type { OwnerId, WorkspaceId } from '../../domain/ids.ts';
import { deploymentOwner, ownerOf, type Principal, type Scope } from '../../domain/principal.ts';
import type { Schedule } from '../../domain/schedule/schedule.ts';
import type { AuditLog } from '../../ports/access.ts';
import type { ProjectStore } from '../../ports/projects.ts';
import type { ScheduleStore } from '../../ports/schedules.ts';
import type { ScheduleDeps } from '../deps.ts';
import { triggerSchedule, updateSchedule } from './manage-schedules.ts';

const now = 5000;

const open = (schedule: Schedule) => {
  let written = schedule;
  const rows: AuditRow[] = [];
  const ports = fake<ScheduleDeps>({
    schedules: fake<ScheduleStore>({
      find: async () => ({ schedule: written, pins: new Map(), open: [] }),
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
  return { ports, rows, written: () => written };
};

const triggered = async (schedule: Schedule) => {
  const { ports, rows, written } = open(schedule);
  await triggerSchedule(ports, schedule.creator, schedule.id);
  return { written: written(), rows };
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

const names = {
  ...{ cron: 'cronExpr', overlap: 'overlapBehavior', sessions: 'sessionBehavior' },
  ...{ project: 'projectId', workspace: 'workspaceId' },
};
const admin: Principal = { owner: deploymentOwner, scope: 'admin', tokenHash: 'of an admin' };
const bound = (project: string): Principal => {
  const scope = `project:${project}` as Scope;
  return { owner: ownerOf(scope), scope, tokenHash: 'of a project' };
};

describe('a schedule that another caller changes', () => {
  const project = newProjectId();
  const changedBy = async (
    caller: Principal,
    { creator, isEnabled, options }: { creator: Principal; isEnabled: boolean; options: object },
  ) => {
    const { ports, written } = open(newSchedule({ targets: [{ project }], creator, isEnabled }));
    await updateSchedule(ports, caller, { id: written().id, options, names });
    return written().creator;
  };

  test.each([
    ['enables', false, { enabled: true }],
    ['gives another prompt to', true, { prompt: 'Delete all.' }],
    ['gives other times to', true, { cron: '* * * * *' }],
  ])(
    'runs in the name of a project’s token that %s one of an administrator',
    async (_, isEnabled, options) => {
      const caller = bound(project);
      expect(await changedBy(caller, { creator: admin, isEnabled, options })).toEqual(caller);
    },
  );

  test.each<[string, Partial<Principal>]>([
    ['a person', { owner: 'person-a' as OwnerId, isPerson: true, tokenHash: 'of a person' }],
    ['another token', { tokenHash: 'of another' }],
  ])('runs in the name of a project’s token that says what one of %s does', async (_, other) => {
    const caller = bound(project);
    const creator = { ...caller, ...other };
    const options = { prompt: 'Delete all.' };
    expect(await changedBy(caller, { creator, isEnabled: true, options })).toEqual(caller);
    expect(await changedBy(caller, { creator, isEnabled: true, options: { name: 'n' } })).toEqual(creator);
  });

  test.each([
    ['a project’s token that disables or renames it', bound(project), { enabled: false, name: 'n' }],
    ['a project’s token that says again that it is enabled', bound(project), { enabled: true }],
    ['an administrator', admin, { prompt: 'Run the tests.' }],
  ])('keeps its creator for %s', async (_, caller, options) => {
    const creator = caller === admin ? bound(project) : admin;
    expect(await changedBy(caller, { creator, isEnabled: true, options })).toEqual(creator);
  });
});
