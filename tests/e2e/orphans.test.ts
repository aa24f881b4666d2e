/**
 * Sandboxes and records that come apart, by lost records, lost events or other deployments; and the sweeps
 * that bring them together. The use case runs here, over the cloud's own endpoints and a clock that is ahead.
 */

import { RunTaskCommand } from '@aws-sdk/client-ecs';
import { DeleteCommand, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { makeApprovalStore } from '#shared/adapters/aws/dynamo/approvals.ts';
import { makeConnectionStore } from '#shared/adapters/aws/dynamo/connection-store.ts';
import { makeEventLog } from '#shared/adapters/aws/dynamo/event-log.ts';
import { makeInbox } from '#shared/adapters/aws/dynamo/inbox.ts';
import { makeProcessStore } from '#shared/adapters/aws/dynamo/process-store.ts';
import { makeSandboxLog } from '#shared/adapters/aws/dynamo/sandbox-log.ts';
import { makeSessionStore } from '#shared/adapters/aws/dynamo/session-store.ts';
import { keys } from '#shared/adapters/aws/dynamo/table.ts';
import { makeTurnStore } from '#shared/adapters/aws/dynamo/turn-store.ts';
import { makeWebhookStore } from '#shared/adapters/aws/dynamo/webhooks.ts';
import { makeWorkspaceStore } from '#shared/adapters/aws/dynamo/workspace-store.ts';
import { makeSandboxHost } from '#shared/adapters/aws/ecs-sandbox-host.ts';
import { systemWorld } from '#shared/adapters/system-world.ts';
import type { Deps, TaskDeps } from '#shared/application/deps.ts';
import { type OrphanReport, sweepOrphans } from '#shared/application/janitor/sweep-orphans.ts';
import { deploymentOwner } from '#shared/domain/principal.ts';
import { executionSlots } from '#shared/domain/slot-holder.ts';
import type { LogFields } from '#shared/ports/telemetry.ts';
import { endSession, makeSession, type Shown, sandboxRecord, showSession, systemEvents } from './agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import { killServer } from './sandbox-processes.ts';

let cloud: EmbeddedCloud;
const open = (): Promise<EmbeddedCloud> =>
  openEmbeddedCloud({ variables: { MSB_MAX_SESSIONS: '3', MSB_EVICT_IDLE: 'false' } });
beforeAll(async () => {
  cloud = await open();
});
/** The sandboxes and records that a failed try has left apart would be swept and counted with those of the next one. */
afterEach(async ({ task }) => {
  if (task.result?.state !== 'fail') return;
  await cloud.stop();
  cloud = await open();
});
afterAll(() => cloud.stop());

const minuteMs = 60_000;
const ignore = (): void => undefined;

type Swept = OrphanReport & { readonly logged: readonly LogFields[] };

/** A sweep as if so much time had passed; what is younger than two minutes then is left alone. */
const sweep = async (aheadMs: number): Promise<Swept> => {
  const logged: LogFields[] = [];
  const { table } = cloud;
  const ports: TaskDeps & Deps<'host'> = {
    sessions: makeSessionStore(table),
    turns: makeTurnStore(table),
    eventLog: makeEventLog(table),
    inbox: makeInbox(table),
    workspaces: makeWorkspaceStore(table),
    connections: makeConnectionStore(table),
    approvals: makeApprovalStore(table),
    webhooks: makeWebhookStore(table),
    noticeSender: { sendNotices: () => Promise.resolve() },
    processes: makeProcessStore(table),
    sandboxLog: makeSandboxLog(table),
    correlation: { id: () => 'test', follow: () => undefined },
    sockets: { post: () => Promise.resolve('gone'), close: () => Promise.resolve() },
    host: makeSandboxHost(cloud.ecs, {
      cluster: 'sallyport',
      deployment: 'local',
      taskDefinitions: { python: 'sallyport-python', node: 'sallyport-node' },
      subnets: ['subnet-local'],
      securityGroup: 'sg-local',
    }),
    invoker: {
      runTurn: () => Promise.resolve(),
      fillPool: () => Promise.resolve(),
      checkMcpServer: () => Promise.resolve(),
      holdRelay: () => Promise.resolve(),
      connected: () => Promise.resolve(),
      stopSandbox: async (workspaceId) => {
        await cloud.janitor({ sweep: 'stop', workspaceId });
      },
    },
    telemetry: {
      info: ignore,
      error: ignore,
      count: ignore,
      duration: ignore,
      warn: (_message, fields = {}) => logged.push(fields),
    },
    world: { ...systemWorld, now: () => Date.now() + aheadMs },
  };
  const report = await sweepOrphans(ports, { poolSize: 0 });
  return { ...report, logged };
};

type Running = Shown & { readonly taskArn: string };

const makeRunning = async (): Promise<Running> => {
  const session = await makeSession(cloud, { flavor: 'micro' });
  await cloud.ask(`/api/sessions/${session.id}/files`);
  const { taskArn = '' } = await sandboxRecord(cloud, session.workspace);
  return { ...session, taskArn };
};

const remove = async (key: { readonly pk: string; readonly sk: string }): Promise<void> => {
  await cloud.table.client.send(new DeleteCommand({ TableName: cloud.table.name, Key: key }));
};

const isRunning = async (taskArn: string): Promise<boolean> => (await cloud.runningTasks()).includes(taskArn);

const untilGone = (taskArn: string): Promise<boolean> =>
  eventually(
    () => isRunning(taskArn),
    (runs) => !runs,
    30_000,
  );

test('a sandbox whose session was deleted from the table is saved, stopped and reported once', async () => {
  const kept = await makeRunning();
  const orphan = await makeRunning();
  await remove(keys.session(orphan.id));
  expect(await sweep(minuteMs)).toMatchObject({ stopped: 0, logged: [] });
  expect(await isRunning(orphan.taskArn)).toBe(true);

  const { stopped, lost, logged } = await sweep(3 * minuteMs);
  expect([stopped, lost]).toEqual([1, 0]);
  expect(logged).toEqual([
    {
      event: 'orphan_sandbox_cleanup',
      sandbox: orphan.taskArn,
      workspaceId: orphan.workspace,
      reason: 'no_corresponding_session_mapping',
    },
  ]);
  await untilGone(orphan.taskArn);
  await eventually(
    () => sandboxRecord(cloud, orphan.workspace),
    ({ state }) => state === 'stopped',
  );
  expect(await sweep(3 * minuteMs)).toMatchObject({ stopped: 0, lost: 0, logged: [] });
  expect((await showSession(cloud, kept.id)).sandbox?.state).toBe('ready');
  await endSession(cloud, kept.id);
});

test('L8: a task without a record is stopped, once it is older than two minutes', async () => {
  const orphan = await makeRunning();
  await remove(keys.session(orphan.id));
  await remove(keys.workspace(orphan.workspace));
  expect(await sweep(minuteMs)).toMatchObject({ stopped: 0, logged: [] });
  expect(await isRunning(orphan.taskArn)).toBe(true);

  const { stopped, logged } = await sweep(3 * minuteMs);
  expect(stopped).toBe(1);
  expect(logged).toEqual([
    {
      event: 'orphan_sandbox_cleanup',
      sandbox: orphan.taskArn,
      group: `workspace/${orphan.workspace}/1`,
      reason: 'no_corresponding_session_mapping',
    },
  ]);
  await untilGone(orphan.taskArn);
});

test('a second task under a sandbox’s name is stopped without harm to it, and that of another deployment is left alone', async () => {
  const owner = await makeRunning();
  const run = async (startedBy: string, group: string): Promise<string> => {
    const environment = [{ name: 'SANDBOX_BEARER_SHA256', value: 'ab'.repeat(32) }];
    const containerOverrides = [{ name: 'sandbox', memory: 576, environment }];
    const { tasks } = await cloud.ecs.send(
      new RunTaskCommand({
        cluster: 'sallyport',
        taskDefinition: 'sallyport-python',
        startedBy,
        group,
        overrides: { cpu: '512', memory: '1024', containerOverrides },
      }),
    );
    return tasks?.[0]?.taskArn ?? '';
  };
  const foreign = await run('another-deployment', `workspace/${owner.workspace}/7`);
  const second = await run('local', `workspace/${owner.workspace}/1`);
  const stranger = await run('local', 'family:something-else');
  const { logged } = await sweep(3 * minuteMs);
  expect(new Set(logged.map(({ sandbox }) => sandbox))).toEqual(new Set([second, stranger]));
  await Promise.all([untilGone(second), untilGone(stranger)]);
  expect([await isRunning(foreign), await isRunning(owner.taskArn)]).toEqual([true, true]);
  expect(await sandboxRecord(cloud, owner.workspace)).toMatchObject({
    state: 'ready',
    taskArn: owner.taskArn,
  });
  await cloud.ask(`/api/sessions/${owner.id}/files`);
  await endSession(cloud, owner.id);
});

test('L9: a record whose task no longer exists tells its session, although the event was lost', async () => {
  const { id, workspace, taskArn } = await makeRunning();
  await cloud.setFaults({ events: { lose: 1000 } });
  killServer(cloud.home, taskArn);
  await untilGone(taskArn);
  await cloud.untilEndsAreTold();
  expect((await showSession(cloud, id)).sandbox?.state).toBe('ready');
  // A young record is believed: ECS may not list its task yet.
  expect(await sweep(0)).toMatchObject({ lost: 0 });

  expect(await sweep(minuteMs)).toMatchObject({ lost: 1 });
  await cloud.setFaults({});
  expect(await sandboxRecord(cloud, workspace)).toMatchObject({
    state: 'stopped',
    stoppedReason: expect.stringContaining('exit code 137'),
  });
  expect(await systemEvents(cloud, id, 'sandbox_stopped')).toEqual([
    { kind: 'sandbox_stopped', reason: expect.stringContaining('exit code 137') },
  ]);
  expect(await sweep(minuteMs)).toMatchObject({ lost: 0 });
  await cloud.ask(`/api/sessions/${id}/files`);
  expect((await showSession(cloud, id)).sandbox?.state).toBe('ready');
  await endSession(cloud, id);
});

test('a wrong counter of slots is corrected once it lasts, and a slot whose sandbox is gone at once', async () => {
  const options = { kind: 'execution', flavor: 'micro' };
  const body = { method: 'POST', body: JSON.stringify({ command: 'true' }) };
  const refusal = async (): Promise<number> => {
    const { id } = await makeSession(cloud, options);
    return (await cloud.request(`/api/sessions/${id}/exec`, body)).status;
  };
  const started = async () => {
    const made = await makeSession(cloud, options);
    await cloud.ask(`/api/sessions/${made.id}/exec`, body);
    return made;
  };
  const [session, forgotten] = await Promise.all([started(), started()]);
  const Key = keys.slots(executionSlots(deploymentOwner));
  const { client, name: TableName } = cloud.table;
  const record = await client.send(new GetCommand({ TableName, Key: keys.session(forgotten.id) }));
  await remove(keys.workspace(record.Item?.['workspace']));
  await remove(keys.session(forgotten.id));
  const set = (UpdateExpression: string, values: object) =>
    client.send(
      new UpdateCommand({ TableName, Key, UpdateExpression, ExpressionAttributeValues: { ...values } }),
    );
  const full = { ':wrong': 3, ':now': Date.now() - 1 };
  await set('SET active = :wrong, dueAt = :now', full);
  // The caller that needs a slot finds the one that nothing holds.
  const other = await started();
  await set('SET active = :wrong, dueAt = :now', { ':wrong': 5, ':now': Date.now() - 1 });
  expect(await cloud.janitor({ sweep: 'slots' })).toEqual({ audited: 1, corrected: 0 });
  // As if that had been a minute ago.
  await set('SET miscountedAt = :then', { ':then': 1 });
  expect(await cloud.janitor({ sweep: 'slots' })).toEqual({ audited: 1, corrected: 1 });
  const { Item } = await client.send(new GetCommand({ TableName, Key, ConsistentRead: true }));
  expect([Item?.['active'], Item?.['duePk']]).toEqual([2, undefined]);
  expect(await cloud.janitor({ sweep: 'slots' })).toEqual({ audited: 0, corrected: 0 });
  const last = await started();
  expect(await refusal()).toBe(429);
  await Promise.all([session, other, last].map(({ id }) => endSession(cloud, id)));
});
