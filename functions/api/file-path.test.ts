import { expect, test } from 'vitest';
import type { ApiEvent } from './api-route.ts';
import { checkedPath, filePathOf } from './file-path.ts';

test.each([
  ['a.txt', 'a.txt'],
  ['a/../b.txt', 'b.txt'],
  ['a//./b/../c.txt', 'a/c.txt'],
  ['src/..', '.'],
  ['a/b/../', 'a/'],
  ['../workspace/a', 'a'],
  ['/workspace/a/../b', 'b'],
  ['a..b', 'a..b'],
  ['a/../..b/c', '..b/c'],
  // Without such a step a path is as it was given: the sandbox decides where it leads.
  ['/etc/passwd', '/etc/passwd'],
  ['a//b', 'a//b'],
])('%s stays in the workspace, as %s', (path, checked) => {
  expect(checkedPath(path)).toBe(checked);
});

test.each(['..', '../x', 'a/../../x', '/workspace/../etc/passwd', '../workspace-of-another/x', '../../..'])(
  '%s leaves the workspace',
  (path) => {
    expect(() => checkedPath(path)).toThrow(expect.objectContaining({ code: 'path_outside_workspace' }));
  },
);

test('the path of a request is decoded before it is checked', () => {
  const event = { path: '/api/sessions/x/files/a%2F..%2Fb.txt' } as ApiEvent;
  expect(filePathOf(event)).toBe('b.txt');
});
