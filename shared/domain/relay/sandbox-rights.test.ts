import { expect, test } from 'vitest';
import type { OwnerId, ProjectId, SessionId } from '../ids.ts';
import { isWeaker, sandboxActions, sandboxPrincipal, sandboxTarget } from './sandbox-rights.ts';

const session = { id: 's' as SessionId, project: 'p' as ProjectId };

test('a program has the rights of the owner, in the project alone', () => {
  expect(sandboxPrincipal({ ...session, owner: 'deployment' as OwnerId })).toEqual({
    owner: 'deployment',
    scope: 'project:p',
    tokenHash: 'sandbox s',
  });
  expect(sandboxPrincipal({ ...session, owner: 'person-ab' as OwnerId })).toMatchObject({ isPerson: true });
});

test.each<[string, string | undefined, string | undefined]>([
  ['session', 'events', 'own'],
  ['session', 'end', 'descendant'],
  ['project', 'get', 'none'],
  ['read_file', undefined, 'own'],
  ['config_limits', undefined, 'own'],
  ...['approve', 'message', 'spawn', 'list', 'cleanup', 'constructor', undefined].map(
    (action): [string, string | undefined, undefined] => ['session', action, undefined],
  ),
  ['project', 'create', undefined],
  ['project', 'update', undefined],
  ['workspace', 'delete', undefined],
  ['schedule', 'list', undefined],
  ['token', 'list', undefined],
  ['execute_command', undefined, undefined],
  ['caller_tool_response', undefined, undefined],
  ['toString', undefined, undefined],
])('%s %s: %s', (tool, action, target) => {
  expect(sandboxTarget(tool, action)).toBe(target);
});

test('actions are named for tools that have them', () => {
  expect(sandboxActions('session')).toEqual(['get', 'events', 'cancel', 'end']);
  expect([sandboxActions('read_file'), sandboxActions('token'), sandboxActions('valueOf')]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test('a mode that asks about less is weaker', () => {
  expect([isWeaker('auto', 'ask'), isWeaker('low', 'low'), isWeaker('ask', 'auto')]).toEqual([
    true,
    false,
    false,
  ]);
});
