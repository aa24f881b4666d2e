/** The synthetic check against the embedded cloud, invoked as the rules of EventBridge would invoke it. */
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, onTestFailed, test } from 'vitest';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';

const ownProject = '00000000-0000-4000-8000-00000000c4ec';

type Session = { readonly id: string; readonly status: string; readonly createdAt: string };

const sessionsOf = async (cloud: EmbeddedCloud, status: string): Promise<readonly Session[]> =>
  (await cloud.ask<{ sessions: readonly Session[] }>(`/api/sessions?project=${ownProject}&status=${status}`))
    .sessions;

/** The values of our metrics, as the functions printed them. */
const metricsIn = (printed: string): Record<string, number> =>
  Object.assign(
    {},
    ...printed
      .split('\n')
      .filter((line) => line.includes('"CloudWatchMetrics"'))
      .map((line) => JSON.parse(line)),
  );

/** As if it had been made so long before. */
const age = ({ id, createdAt }: Session, byMs: number) =>
  cloud.table.client.send(
    new UpdateCommand({
      TableName: cloud.table.name,
      Key: { pk: `SESSION#${id}`, sk: 'META' },
      UpdateExpression: 'SET createdAt = :at',
      ExpressionAttributeValues: { ':at': Date.parse(createdAt) - byMs },
    }),
  );

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud({
    variables: { SYNTHETIC_CHECK: 'true', RATE_LIMIT_PER_SECOND: '10', RATE_LIMIT_BURST: '20' },
  });
});
afterAll(() => cloud.stop());

/** Tests count the sessions: those of a failed try are none of the next one's. */
const forgetSessions = async (): Promise<void> => {
  for (const { id } of await sessionsOf(cloud, 'active'))
    await cloud.request(`/api/sessions/${id}`, { method: 'DELETE' });
  const body = JSON.stringify({ project: ownProject, maxAgeHours: 0 });
  await cloud.request('/api/sessions/cleanup', { method: 'POST', body });
};

test('a turn is sent, answered and timed, and no session stays active', async () => {
  onTestFailed(forgetSessions);
  const report = await cloud.synthetic({ check: 'turn', url: cloud.url });
  expect(report).toEqual({ check: 'turn', durationMs: expect.any(Number) });
  expect(metricsIn(cloud.printed())['SyntheticTurnMs']).toBe(report['durationMs']);
  expect(await sessionsOf(cloud, 'active')).toEqual([]);
  expect(await sessionsOf(cloud, 'completed')).toHaveLength(1);
  expect(await cloud.runningTasks()).toEqual([]);
});

test('a sandbox is started, answers, is timed and stopped at once', async () => {
  onTestFailed(forgetSessions);
  const report = await cloud.synthetic({ check: 'sandbox', url: cloud.url });
  // On one machine a sandbox sees no cgroup: the program outside counts for it.
  expect(report).toEqual({ check: 'sandbox', durationMs: expect.any(Number), cgroups: 'unseen' });
  expect(metricsIn(cloud.printed())['SyntheticSandboxMs']).toBe(report['durationMs']);
  expect(await sessionsOf(cloud, 'active')).toEqual([]);
  await eventually(cloud.runningTasks, (tasks) => tasks.length === 0);
});

test('its project is not deleted, also by an admin', async () => {
  const deleted = await cloud.request(`/api/projects/${ownProject.toUpperCase()}`, { method: 'DELETE' });
  expect(deleted.status).toBe(409);
  expect(await cloud.ask(`/api/projects/${ownProject}`)).toMatchObject({ name: 'synthetic check' });
});

test('its token is revoked at its end', async () => {
  const { tokens } = await cloud.ask<{ tokens: readonly unknown[] }>('/api/tokens');
  expect(tokens).toEqual([]);
});

test('the next check ends the sessions of one that died, and leaves new ones alone', async () => {
  onTestFailed(forgetSessions);
  const body = JSON.stringify({ project: ownProject, provider: 'demo' });
  const make = () => cloud.ask<Session>('/api/sessions', { method: 'POST', body });
  const [old, young] = [await make(), await make()];
  await age(old, 11 * 60_000);
  await cloud.synthetic({ check: 'turn', url: cloud.url });
  const active = await sessionsOf(cloud, 'active');
  expect(active.map(({ id }) => id)).toEqual([young.id]);
});

test('concurrent checks do not pile up', async () => {
  const checks = Array.from({ length: 5 }, () => cloud.synthetic({ check: 'turn', url: cloud.url }));
  await Promise.allSettled(checks);
  expect((await sessionsOf(cloud, 'active')).length).toBeLessThanOrEqual(1);
});

describe('a check fails its invocation and is counted', () => {
  test('when no server answers at the address', async () => {
    await expect(cloud.synthetic({ check: 'turn', url: 'http://127.0.0.1:9' })).rejects.toThrow(
      /cannot be reached/,
    );
    expect(metricsIn(cloud.printed())['SyntheticChecksFailed']).toBe(1);
  });

  test('when its input is invalid', async () => {
    await expect(cloud.synthetic({ check: 'everything', url: cloud.url })).rejects.toThrow(
      /not a synthetic check/,
    );
  });
});

test('it does nothing where it is not enabled', async () => {
  const off = await openEmbeddedCloud();
  try {
    expect(await off.synthetic({ check: 'turn', url: off.url })).toEqual({ check: 'turn', isOff: true });
    const { client, name } = off.table;
    const Key = { pk: `PROJECT#${ownProject}`, sk: 'META' };
    expect((await client.send(new GetCommand({ TableName: name, Key }))).Item).toBeUndefined();
  } finally {
    await off.stop();
  }
});
