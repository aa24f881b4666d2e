/** The validation of a schedule: each bad field is refused under the client's name for it, each good one is taken as it is. */
import { describe, expect, test } from 'vitest';
import { type FieldNames, missingField, type ScheduleOptions, validateSchedule } from './validate.ts';

const names: FieldNames = {
  cron: 'cron_expr',
  overlap: 'overlap_behavior',
  sessions: 'session_behavior',
  project: 'project_id',
  workspace: 'workspace_id',
};
const one = '11111111-1111-4111-8111-111111111111';
const two = '22222222-2222-4222-8222-222222222222';
const problemOf = (request: ScheduleOptions): string => {
  const result = validateSchedule(request, names);
  return result.ok ? 'taken' : result.problem;
};

test('given fields are taken, missing ones left out', () => {
  const request = {
    name: 'n',
    cron: '*/5 * * * *',
    prompt: 'p',
    targets: [{ project_id: one }, { project_id: one, workspace_id: two }],
    enabled: false,
    overlap: 'queue',
    sessions: 'new',
  };
  expect(validateSchedule(request, names)).toEqual({
    ok: true,
    fields: {
      name: 'n',
      cron: '*/5 * * * *',
      prompt: 'p',
      targets: [{ project: one }, { project: one, workspace: two }],
      isEnabled: false,
      overlap: 'queue',
      sessions: 'new',
    },
  });
  expect(validateSchedule({}, names)).toEqual({ ok: true, fields: {} });
});

describe('is refused by name:', () => {
  test.each<[ScheduleOptions, string]>([
    [{ name: '' }, 'name: a text of 1 to 128 characters'],
    [{ name: ' ' }, 'name: a text of 1 to 128 characters'],
    [{ name: 'x'.repeat(129) }, 'name: a text of 1 to 128 characters'],
    [{ name: 1 }, 'name: a text of 1 to 128 characters'],
    [{ cron: null }, 'cron_expr: a text'],
    [{ cron: '* * * * 8' }, 'cron_expr: day of week: from 0 to 7, not "8"'],
    [{ prompt: '' }, 'prompt: a text of 1 to 102400 bytes'],
    [{ prompt: 'é'.repeat(51_201) }, 'prompt: a text of 1 to 102400 bytes'],
    [{ enabled: 'yes' }, 'enabled: true or false'],
    [{ overlap: 'x' }, 'overlap_behavior: use one of skip, queue, parallel'],
    [{ sessions: 'x' }, 'session_behavior: use one of resume, new'],
    [{ targets: [] }, 'targets: a list of 1 to 10'],
    [{ targets: {} }, 'targets: a list of 1 to 10'],
    [{ targets: Array(11).fill({ project_id: one }) }, 'targets: a list of 1 to 10'],
    [{ targets: ['x'] }, 'targets.0: an object with project_id, and workspace_id if you like'],
    [{ targets: [{ project_id: 'x' }] }, 'targets.0.project_id: the id of a project'],
    [
      { targets: [{ project_id: one }, { project_id: one, workspace_id: 1 }] },
      'targets.1.workspace_id: the id of a workspace',
    ],
    [{ targets: [{ project_id: one }, { project_id: one }] }, 'targets.1: the same as an earlier one'],
  ])('%o', (request, problem) => {
    expect(problemOf(request)).toBe(problem);
  });

  test('the smallest invalid excess is refused, the limit accepted', () => {
    expect(problemOf({ name: 'x'.repeat(128), prompt: 'é'.repeat(51_200) })).toBe('taken');
  });
});

test.each([
  [{}, 'name is required'],
  [{ name: 'n' }, 'cron_expr is required'],
  [{ name: 'n', cron: '* * * * *' }, 'prompt is required'],
  [{ name: 'n', cron: '* * * * *', prompt: 'p' }, undefined],
])('for %o the message is: %s', (fields, problem) => {
  expect(missingField(fields, names)).toBe(problem);
});
