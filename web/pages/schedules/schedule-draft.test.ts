import { expect, test } from 'vitest';
import { bodyOf, changeOf, draftOf, problemsOf } from './schedule-draft.ts';

const project = '7b0c5f0e-5a53-4f7e-9a0e-0d6f1e3f7a11';
const draft = { ...draftOf(undefined, project), name: ' nightly ', prompt: '$ make test' };

test('a new schedule skips, resumes and is enabled', () => {
  expect(bodyOf(draft)).toEqual({
    name: 'nightly',
    cronExpr: '0 9 * * 1-5',
    prompt: '$ make test',
    targets: [{ projectId: project }],
    enabled: true,
    overlapBehavior: 'skip',
    sessionBehavior: 'resume',
  });
});

test('a workspace is named only where one was chosen', () => {
  const targets = [{ projectId: project, workspaceId: 'w' }];
  expect(bodyOf({ ...draft, targets }).targets).toEqual([{ projectId: project, workspaceId: 'w' }]);
});

test('each invalid field has its problem', () => {
  expect(problemsOf(draft)).toEqual({});
  const twice = [...draft.targets, ...draft.targets];
  expect(problemsOf({ ...draft, name: '', cronExpr: '99 * * * *', prompt: ' ', targets: twice })).toEqual({
    name: 'Enter a name.',
    cronExpr: 'minute: from 0 to 59, not "99"',
    prompt: 'Enter a prompt.',
    targets: 'Two targets are the same.',
  });
  expect(problemsOf({ ...draft, prompt: 'é'.repeat(60_000) })).toEqual({
    prompt: 'The limit is 100 KB.',
  });
});

test('a change is of the fields that were changed: a schedule that was disabled meanwhile stays so', () => {
  expect(changeOf(draft, { ...draft })).toEqual({});
  expect(changeOf(draft, { ...draft, prompt: 'x' })).toEqual({ prompt: 'x' });
});
