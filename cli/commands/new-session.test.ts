import { expect, test } from 'vitest';
import { logIn } from '../fixtures/logged-in.ts';

const route = 'POST /api/sessions';

test('a session is created with the options of chat, and its id is printed', async () => {
  await using there = await logIn({ [route]: { status: 201, body: { id: 's-1' } } });
  const options = ['--approvals', 'low', '--max-cost', '2', '--label', 'team:red', '--env', 'A=1'];
  expect(await there.run(['sessions', 'create', ...options])).toMatchObject({ code: 0, stdout: 's-1\n' });
  const slice = ['--max-tool-calls', '9', '--max-sandbox-seconds', '600'];
  await there.run(['sessions', 'create', '--kind', 'execution', '--flavor', 'small', ...slice]);
  await there.run(['sessions', 'create', '--project', 'p-1', '--workspace', 'w-1']);
  expect(there.bodies(route)).toEqual([
    { approvals: 'low', maxCostUsd: 2, labels: { team: 'red' }, env: { A: '1' } },
    { kind: 'execution', flavor: 'small', slice: { maxToolCalls: 9, maxSandboxSeconds: 600 } },
    { project: 'p-1', workspace: 'w-1' },
  ]);
});
