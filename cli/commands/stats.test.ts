import { expect, test } from 'vitest';
import { logIn } from '../fixtures/logged-in.ts';

test('current use names the agent slots of each project', async () => {
  const stats = {
    ...{
      activeSessions: 3,
      maxSessions: 10,
      totalMemoryMb: 3584,
      totalCpus: 3.5,
      flavorCounts: { small: 2, medium: 1 },
    },
    ...{ allocatedPorts: 1, availablePorts: 999, limits: 'enforced', pool: { ready: 0, target: 2 } },
    agentSlots: [{ project: 'p', name: 'shop', used: 2, max: 10 }],
  };
  await using there = await logIn({ 'GET /api/stats': { body: stats } });
  expect((await there.run(['stats'])).stdout).toBe(
    [
      'execution sessions   3 of 10',
      'their flavors        2 small, 1 medium',
      'their memory         3584 MB',
      'their CPUs           3.5',
      'limits               enforced',
      'preview ports        1 of 1000',
      'warm sandboxes       0 of 2',
      'agent slots of shop  2 of 10',
      '',
    ].join('\n'),
  );
});

test('execution sessions of several owners are told apart, since each has slots of its own', async () => {
  const stats = {
    ...{ activeSessions: 12, maxSessions: 10, totalMemoryMb: 0, totalCpus: 0, flavorCounts: {} },
    ...{ allocatedPorts: 0, availablePorts: 1000, limits: 'enforced', pool: { ready: 0, target: 0 } },
    executionSlots: [
      { name: 'deployment', used: 5, max: 10 },
      { project: 'p', name: 'shop', used: 7, max: 10 },
    ],
  };
  await using there = await logIn({ 'GET /api/stats': { body: stats } });
  const { stdout } = await there.run(['stats']);
  expect(stdout).toMatch(/^execution sessions of deployment +5 of 10\nexecution sessions of shop +7 of 10\n/);
  expect(stdout).not.toContain('12');
});
