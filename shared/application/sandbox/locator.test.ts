/** The interval at which ECS is asked about a task that was not heard of, and what comes of its answers. */

import { expect, test } from 'vitest';
import { newSession, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import { taskGroup } from '../../domain/sandbox.ts';
import type { HostTask, SandboxLink } from '../../ports/sandbox.ts';
import type { StopDeps } from '../deps.ts';
import { acquireSandbox } from './acquire-sandbox.ts';
import { openLocator } from './record-task-event.ts';
import { startedFor } from './sandbox-request.ts';

const id = '6f1d2c3b-0000-4000-8000-000000000001' as WorkspaceId;
const workspace = { id, users: [], sandbox: { generation: 2, state: 'starting' } };

/** Ports that note what they were asked; what a locator has no use for is absent. */
const portsOf = (answer: () => readonly Partial<HostTask>[]) => {
  const clock = { now: 1000 };
  const done: string[] = [];
  const ports = {
    host: {
      describe: ([taskArn]: readonly string[]) => {
        done.push(`describe ${taskArn}`);
        return Promise.resolve().then(answer);
      },
    },
    workspaces: {
      get: () => Promise.resolve(workspace),
      recordTask: (_id: WorkspaceId, generation: number, taskArn: string) =>
        Promise.resolve(done.push(`task ${generation} ${taskArn}`)),
      recordAddress: (_id: WorkspaceId, generation: number, running: HostTask) =>
        Promise.resolve(done.push(`runs ${generation} ${running.taskArn} ${running.address}`) > 0),
      markStopped: (_id: WorkspaceId, generation: number, { reason }: { readonly reason: string }) => {
        done.push(`stopped ${generation} ${reason}`);
        return Promise.resolve(undefined);
      },
    },
    webhooks: { list: () => Promise.resolve({ webhooks: [], version: 0 }) },
    telemetry: { warn: (message: string) => done.push(`warn ${message}`) },
    world: { now: () => clock.now },
  };
  return { ports: ports as unknown as StopDeps, clock, done };
};

const task = { taskArn: 'arn', group: `workspace/${id}/2`, createdAt: 0 };

test('a running task is recorded with its address', async () => {
  const { ports, done } = portsOf(() => [
    { ...task, lastStatus: 'RUNNING', address: 'http://10.0.0.7:8080' },
  ]);
  await openLocator(ports)('arn');
  expect(done).toEqual(['describe arn', 'runs 2 arn http://10.0.0.7:8080']);
});

test('a stopped task is recorded with its reason, and a starting one changes nothing', async () => {
  const stopped = portsOf(() => [{ ...task, lastStatus: 'STOPPED', stoppedReason: 'no image' }]);
  await openLocator(stopped.ports)('arn');
  expect(stopped.done).toEqual(['describe arn', 'stopped 2 no image']);
  const pending = portsOf(() => [{ ...task, lastStatus: 'PENDING' }]);
  await openLocator(pending.ports)('arn');
  expect(pending.done).toEqual(['describe arn']);
  const unknown = portsOf(() => []);
  await openLocator(unknown.ports)('arn');
  expect(unknown.done).toEqual(['describe arn']);
});

test('a waiting caller asks every five seconds and no more often, also after a refusal', async () => {
  const { ports, clock, done } = portsOf(() => {
    throw new Error('Rate exceeded');
  });
  const locate = openLocator(ports);
  for (const now of [1000, 2000, 5999, 6000, 10_999]) {
    clock.now = now;
    await locate('arn');
  }
  expect(done).toEqual([
    'describe arn',
    'warn a sandbox that starts was not located',
    'describe arn',
    'warn a sandbox that starts was not located',
  ]);
});

test('a sandbox that stays silent, since its task has ended unheard, is followed by another within seconds', async () => {
  const { ports, clock } = openQuietPorts();
  const session = newSession();
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  const link: SandboxLink = {
    fetch: async (_sandbox, { path }) =>
      new Response(null, { status: isEnded && path === '/health' ? 200 : 503 }),
  };
  let isEnded = false;
  const describe = async ([taskArn = '']: readonly string[]): Promise<readonly HostTask[]> => {
    isEnded = true;
    const group = taskGroup(session.workspace, 1);
    return [{ taskArn, group, createdAt: 0, lastStatus: 'STOPPED', stoppedReason: 'exit code 137' }];
  };
  const host = { ...ports.host, describe };
  const { sandbox } = await acquireSandbox({ ...ports, host, link }, startedFor(session));
  expect(sandbox.generation).toBe(2);
  expect(clock.now).toBeLessThan(1_000_000 + 10_000);
});
