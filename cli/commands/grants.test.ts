import { expect, test } from 'vitest';
import { logIn } from '../fixtures/logged-in.ts';

test('the grants of a session are listed and withdrawn', async () => {
  const by = { kind: 'token', id: 't-1', name: 'ci' };
  const command = { id: 'g1', tool: 'execute_command', prefix: 'git status', by, at: 'T' };
  const tool = { id: 'g2', tool: 'write_file', by: { kind: 'person', id: 'u', name: 'Ann' }, at: 'T' };
  await using there = await logIn({
    'GET /api/sessions/s/grants': { body: { grants: [command, tool] } },
    'GET /api/sessions/none/grants': { body: { grants: [] } },
    'DELETE /api/sessions/s/grants/g1': { body: command },
  });
  expect((await there.run(['grants', 's'])).stdout).toBe(
    [
      'ID  ALLOWS                                        BY            AT',
      'g1  execute_command that begins with: git status  the token ci  T',
      'g2  every call of write_file                      Ann           T',
      '',
    ].join('\n'),
  );
  expect(JSON.parse((await there.run(['grants', 'list', 's', '--json'])).stdout)).toEqual({
    grants: [command, tool],
  });
  expect((await there.run(['grants', 'none'])).stdout).toBe('No grants.\n');
  expect((await there.run(['grants', 'withdraw', 's', 'g1'])).stdout).toBe(
    'Withdrawn: execute_command that begins with: git status. The approval mode decides later calls.\n',
  );
});
