import { expect, test } from 'vitest';
import { breakingPoints, needOfSession, writesOfTurn } from './demand.ts';
import { busySession } from './workload.ts';

const session = { workload: busySession, writes: { withoutTools: 10, withOneCall: 30 }, sandboxVcpus: 0.5 };

test('each further call writes what the first one wrote', () => {
  expect([0, 1, 3].map((calls) => writesOfTurn(session.writes, calls))).toEqual([10, 30, 70]);
});

test('the need of a session has the units of its quotas', () => {
  const need = needOfSession(session);
  expect(need.fargateVcpus).toBe(0.5);
  expect(need.fargateLaunches * 3600).toBeCloseTo(1);
  // 6 turns of 30 s, 9 s of the link, and 2 functions of 60 s for a fifth of the sessions.
  expect(need.lambdaConcurrency * 3600).toBeCloseTo(6 * (30 + 9 + 24));
  expect(need.tableWrites * 3600).toBeCloseTo(6 * 70);
  expect(need.gatewayRequests * 3600).toBeCloseTo(6 * 220);
  expect([need.modelRequests, need.modelInput, need.modelOutput].map(Math.round)).toEqual([0, 1200, 160]);
});

test('the quota that the fewest sessions break comes first', () => {
  const [first, ...others] = breakingPoints(session);
  expect(first).toEqual({ quota: 'agentSlots', sessions: 10 });
  expect(others[0]).toEqual({ quota: 'fargateVcpus', sessions: 12 });
  expect(others.map(({ sessions }) => sessions)).toEqual(
    others.map(({ sessions }) => sessions).toSorted((one, other) => one - other),
  );
});

test('a session that needs nothing of a quota never breaks it', () => {
  const idle = { ...session, workload: { ...busySession, connectsPerHour: 0 } };
  expect(breakingPoints(idle).at(-1)).toEqual({
    quota: 'socketConnects',
    sessions: Number.POSITIVE_INFINITY,
  });
});
