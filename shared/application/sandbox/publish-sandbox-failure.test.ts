/** Webhooks hear of a sandbox that failed, and of none that works: neither of a slow start, nor under the id of another failure. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { newSandbox, newSession, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { newWebhook } from '../../../tests/conformance/webhook-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import { sweep } from '../janitor/sweep-in-rounds.ts';
import { publishSandboxFailure } from './publish-sandbox-failure.ts';
import { recordStopped } from './record-stopped.ts';

const startMsMax = 180_000;

const open = async () => {
  const { ports: quiet, clock } = openQuietPorts();
  const told: string[] = [];
  const noticeSender = { sendNotices: async (ids: readonly string[]) => void told.push(...ids) };
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const ports = { ...quiet, noticeSender, world: { ...quiet.world, sha256 } };
  const { workspaces, webhooks } = ports;
  const session = newSession();
  const { workspace: id, project } = session;
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  const webhook = newWebhook({ project, events: ['sandbox_failed'] });
  await webhooks.create(webhook, { secret: 'whsec_c2VjcmV0', version: 0 });
  await workspaces.claimStart(id, newSandbox({ requestedAt: clock.now }));
  const name = { workspaceId: id, generation: 1 };
  return {
    ...{ ports, clock, told, name },
    sandbox: async () => (await workspaces.get(id))?.sandbox,
    ready: () => workspaces.markReady(id, 1, { at: clock.now }),
    sweep: () => sweep(ports, { lifetimes: ports.lifetimes }),
    lost: () => recordStopped(ports, name, 'Spot interruption'),
  };
};

describe('a sandbox whose start takes too long', () => {
  test('has failed', async () => {
    const { clock, told, sandbox, sweep: look } = await open();
    clock.now += startMsMax;
    await look();
    expect(told).toHaveLength(1);
    expect((await sandbox())?.state).toBe('stopping');
  });

  test('has not failed while it is restored, however often the janitor looks', async () => {
    const { ports, clock, told, name, sandbox, sweep: look } = await open();
    clock.now += startMsMax - 10_000;
    const until = clock.now + 150_000;
    await ports.workspaces.claimRestore(name.workspaceId, 1, { at: clock.now, until });
    clock.now += 10_000;
    for (; clock.now < until; clock.now += 31_000) await look();
    expect(told).toEqual([]);
    expect((await sandbox())?.state).toBe('starting');
  });

  test('has not failed when it is ready by now, whatever the index says', async () => {
    const { ports, clock, told, sandbox, ready, sweep: look } = await open();
    clock.now += startMsMax;
    const late = await ports.workspaces.due(clock.now, 10);
    await ready();
    ports.workspaces.due = () => Promise.resolve(late);
    await look();
    expect(told).toEqual([]);
    expect((await sandbox())?.state).toBe('ready');
  });

  test('and is lost after it became ready all the same, is heard of by a message of its own', async () => {
    const { ports, told, name, ready, lost } = await open();
    for (let again = 0; again < 2; again += 1)
      await publishSandboxFailure(ports, { ...name, only: 'starting' });
    expect([told.length, new Set(told).size]).toEqual([2, 1]);
    await ready();
    await lost();
    expect([told.length, new Set(told).size]).toEqual([3, 2]);
  });
});

test('a start that is given up has not failed when its task is placed by now', async () => {
  const { ports, told, name } = await open();
  await ports.workspaces.recordTask(name.workspaceId, 1, 'task-1');
  await publishSandboxFailure(ports, { ...name, only: 'unplaced' });
  expect(told).toEqual([]);
});
