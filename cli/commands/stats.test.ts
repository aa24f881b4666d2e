import { expect, test } from 'vitest';
import { logIn } from '../fixtures/logged-in.ts';

test('current use names the agent slots of each project', async () => {
  const agentSlots = [{ project: 'p', name: 'shop', used: 2, max: 10 }];
  await using there = await logIn({
    'GET /api/stats': { body: { activeSessions: 1, pool: { ready: 0, target: 2 }, agentSlots } },
  });
  expect((await there.run(['stats'])).stdout).toBe(
    [
      'active sessions      1',
      'pool                 ready 0, target 2',
      'agent slots of shop  2 of 10',
      '',
    ].join('\n'),
  );
});
