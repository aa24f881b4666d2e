/** Scenarios that an operator may meet, made to happen in an embedded cloud, each with the metrics that tell of it. */
import { readdir, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DeleteCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { makeScheduleStore } from '#shared/adapters/aws/dynamo/schedules.ts';
import { dueValues, keys } from '#shared/adapters/aws/dynamo/table.ts';
import { defaultProject, deploymentOwner } from '#shared/domain/principal.ts';
import type { ScheduleId } from '#shared/domain/schedule/schedule.ts';
import { executionSlots } from '#shared/domain/slot-holder.ts';
import { endSession, makeSession, openAgent, restSandbox, sandboxRecord } from './agent.ts';
import { type EmbeddedCloud, eventually } from './embedded-cloud.ts';
import { isEmitted } from './observed.ts';
import { killServer } from './sandbox-processes.ts';
import { connect } from './socket-client.ts';

export type Scenario = {
  readonly metrics: readonly string[];
  readonly happens: (cloud: EmbeddedCloud) => Promise<void>;
};

/** Lines of functions come a moment after their answers. */
const until = (cloud: EmbeddedCloud, name: string, msMax = 60_000): Promise<boolean> =>
  eventually(
    () => Promise.resolve(isEmitted(cloud, name)),
    (emitted) => emitted,
    msMax,
  );

type Change = { readonly set: string; readonly values: object; readonly names?: Record<string, string> };

const update = (cloud: EmbeddedCloud, Key: object, { set, values, names }: Change): Promise<unknown> =>
  cloud.table.client.send(
    new UpdateCommand({
      TableName: cloud.table.name,
      Key: { ...Key },
      UpdateExpression: `SET ${set}`,
      ExpressionAttributeValues: { ...values },
      ...(names === undefined ? {} : { ExpressionAttributeNames: names }),
    }),
  );

/** Of another flavor than the pool's. */
const cold = { flavor: 'small' };
/** Slots of execution sessions in the cloud of these scenarios. */
export const slotsMax = 4;
const post = (body: object): RequestInit => ({ method: 'POST', body: JSON.stringify(body) });

/** The bytes of the checkpoints of all workspaces. */
const bytesOf = async ({ home }: EmbeddedCloud): Promise<string> => {
  const found = await readdir(join(home, 's3'), { recursive: true });
  const folder = found.find((path) => path.endsWith('/bytes'));
  if (folder === undefined) throw new Error('there is no bucket');
  return join(home, 's3', folder);
};

/** Makes a schedule's runs due, so that the sweep records their outcomes. */
const noteRuns = async (cloud: EmbeddedCloud, id: string): Promise<void> => {
  const state = await makeScheduleStore(cloud.table).find(id as ScheduleId);
  const values = dueValues('schedule', id, 1);
  for (const { runAt, part } of state?.open ?? []) {
    const key = keys.openRun(id, `${String(runAt).padStart(13, '0')}#${part}`);
    await update(cloud, key, { set: 'duePk = :duePk, dueAt = :dueAt', values });
  }
  await cloud.schedules({ sweep: 'schedules' });
};

type Health = { readonly mcps: readonly { readonly name: string; readonly consecutiveFailures: number }[] };

export const scenarios: Readonly<Record<string, Scenario>> = {
  'a warm sandbox is ready and taken, a person approves, the turn ends': {
    metrics: [
      ...['PoolReady', 'SandboxWarmStartMs', 'ApprovalsAsked', 'ApprovalWaitMs', 'ToolCallMs'],
      ...['TurnsStarted', 'TurnDurationMs', 'FirstDeltaMs', 'SessionCostUsd', 'WorkspaceSaveMs'],
    ],
    happens: async (cloud) => {
      await eventually(
        () => cloud.janitor({ sweep: 'pool' }),
        ({ ready }) => ready === 1,
        30_000,
      );
      const { id } = await makeSession(cloud, { flavor: 'micro' });
      const client = await connect(cloud, { sessionId: id });
      await client.untilType('system:ready');
      client.send('message', { text: '$ echo kept > file' });
      const { data } = await client.untilType('tool:approval_required');
      client.send('tool:approval', { callId: data.callId, approved: true });
      await client.untilType('completion');
      client.send('message', { text: 'hello' });
      await client.untilType('completion', 1);
      await client.close();
      await endSession(cloud, id);
    },
  },
  'a cold start, a sandbox that is lost, and files that come back': {
    metrics: ['SandboxColdStartMs', 'SandboxesLost', 'WorkspaceRestoreMs', 'SandboxesRunning'],
    happens: async (cloud) => {
      const agent = await openAgent(cloud, cold);
      await agent.run('$ echo kept > file');
      await cloud.janitor({ sweep: 'orphans' });
      const { taskArn = '' } = await sandboxRecord(cloud, agent.workspace);
      killServer(cloud.home, taskArn);
      await eventually(
        () => sandboxRecord(cloud, agent.workspace),
        ({ state }) => state === 'stopped',
        60_000,
      );
      await agent.run('$ cat file');
      await agent.close();
    },
  },
  'a checkpoint that cannot be written, and one whose bytes are gone': {
    metrics: ['WorkspaceSavesFailed', 'WorkspaceRestoresIncomplete', 'ToolCallsFailed'],
    happens: async (cloud) => {
      const agent = await openAgent(cloud, cold);
      await agent.run('$ echo kept > file');
      const bytes = await bytesOf(cloud);
      await rename(bytes, `${bytes}.away`);
      try {
        await agent.run('$ echo changed > file');
        await until(cloud, 'WorkspaceSavesFailed', 60_000);
      } finally {
        await rename(`${bytes}.away`, bytes);
      }
      await agent.run('$ echo again > file');
      await restSandbox(cloud, agent.id);
      for (const file of await readdir(bytes)) await rm(join(bytes, file));
      await agent.run('read nothing-there');
      await agent.close();
    },
  },
  'starts that fail': {
    metrics: ['SandboxStartsFailed'],
    happens: async (cloud) => {
      const { id } = await makeSession(cloud, { kind: 'execution', ...cold });
      await cloud.setFaults({ capacityFailures: 1000 });
      await cloud.request(`/api/sessions/${id}/files`);
      await cloud.setFaults({});
      await endSession(cloud, id);
    },
  },
  'a stop that ECS refuses': {
    metrics: ['SandboxStopsFailed'],
    happens: async (cloud) => {
      const { id } = await makeSession(cloud, { kind: 'execution', ...cold });
      await cloud.ask(`/api/sessions/${id}/files`);
      await cloud.setFaults({ stopFailures: 20 });
      await cloud.ask(`/api/sessions/${id}`, { method: 'DELETE' });
      await until(cloud, 'SandboxStopsFailed', 30_000);
      await cloud.setFaults({});
    },
  },
  'a provider that does not answer, for a user and for a schedule; a schedule that runs': {
    metrics: ['TurnsFailed', 'ScheduleRuns', 'ScheduleRunsFailed'],
    happens: async (cloud) => {
      const make = (options: object) =>
        cloud.ask<{ id: string }>('/api/projects', post({ name: 'p', ...options }));
      for (const options of [{}, { provider: 'anthropic' }]) {
        const { id: projectId } = await make({ approvals: 'auto', ...options });
        const schedule = { name: 's', cronExpr: '0 0 1 1 *', prompt: 'hello', targets: [{ projectId }] };
        const { id } = await cloud.ask<{ id: string }>('/api/schedules', post(schedule));
        await cloud.ask(`/api/schedules/${id}/trigger`, post({}));
        await eventually(
          () => cloud.ask<{ history: readonly { status: string }[] }>(`/api/schedules/${id}/history`),
          ({ history }) => ['success', 'failed'].includes(history[0]?.status ?? ''),
          60_000,
        );
        await noteRuns(cloud, id);
      }
    },
  },
  'two functions want one session, and one loses its lease': {
    metrics: ['LeasesContended', 'LeasesLost'],
    happens: async (cloud) => {
      const agent = await openAgent(cloud);
      agent.client.send('message', { text: '$ sleep 3' });
      await agent.client.untilType('tool:call');
      agent.client.send('message', { text: 'wait for it' });
      await until(cloud, 'LeasesContended');
      await update(cloud, keys.session(agent.id), {
        set: 'leaseFence = leaseFence + :one',
        values: { ':one': 1 },
      });
      await until(cloud, 'LeasesLost');
      await agent.client.close();
      await cloud.ask(`/api/sessions/${agent.id}`, { method: 'DELETE' });
    },
  },
  'a socket that is gone without a word': {
    metrics: ['SocketsGone'],
    happens: async (cloud) => {
      const { id } = await makeSession(cloud, {});
      const { client, name: TableName } = cloud.table;
      await client.send(new PutCommand({ TableName, Item: keys.subscriber(id, 'long-gone') }));
      await cloud.ask(`/api/sessions/${id}/messages`, post({ text: 'hello' }));
      await until(cloud, 'SocketsGone');
    },
  },
  'a browser that comes back from a sign-in it never began': {
    metrics: ['SignInsFailed'],
    happens: async (cloud) => {
      await cloud.request('/api/auth/callback?code=unknown&state=unknown');
    },
  },
  'a sandbox that nobody stands behind': {
    metrics: ['OrphansStopped'],
    happens: async (cloud) => {
      const { id, workspace } = await makeSession(cloud, { kind: 'execution', ...cold });
      await cloud.ask(`/api/sessions/${id}/files`);
      const { client, name: TableName } = cloud.table;
      await client.send(new DeleteCommand({ TableName, Key: keys.session(id) }));
      await update(cloud, keys.workspace(workspace), {
        set: 'sandbox.requestedAt = :long',
        values: { ':long': 1 },
      });
      await cloud.janitor({ sweep: 'orphans' });
    },
  },
  'a slice that is used up': {
    metrics: [],
    happens: async (cloud) => {
      const slice = { maxSandboxSeconds: 600 };
      const { id, workspace } = await makeSession(cloud, { kind: 'execution', slice, ...cold });
      await cloud.ask(`/api/sessions/${id}/files`);
      const used = 'slices.#id.sandboxMs = :ms';
      await update(cloud, keys.tree(id), { set: used, values: { ':ms': 600_000 }, names: { '#id': id } });
      await update(cloud, keys.workspace(workspace), {
        set: 'dueAt = :now',
        values: { ':now': Date.now() - 1 },
      });
      await cloud.janitor({ sweep: 'due' });
      await eventually(
        () => sandboxRecord(cloud, workspace),
        (sandbox) => sandbox?.state === 'stopped',
      );
      const refused = await cloud.ask(`/api/sessions/${id}/files`).catch((error: unknown) => String(error));
      if (!String(refused).includes('used up')) throw new Error(`it was not refused: ${refused}`);
    },
  },
  'a counter that is wrong': {
    metrics: ['SlotsCorrected'],
    happens: async (cloud) => {
      const holder = executionSlots(deploymentOwner);
      const due = dueValues('slots', holder, 1);
      const set = 'active = active + :more, duePk = :duePk, dueAt = :dueAt';
      await update(cloud, keys.slots(holder), { set, values: { ':more': 2, ...due } });
      await cloud.janitor({ sweep: 'slots' });
      // As if that had been a minute ago.
      await update(cloud, keys.slots(holder), { set: 'miscountedAt = :at', values: { ':at': 1 } });
      await cloud.janitor({ sweep: 'slots' });
    },
  },
  'a sandbox that makes room, and its session, which comes to its end': {
    metrics: ['SandboxesEvicted', 'SessionsPaused', 'SessionsReaped', 'SweepDue'],
    happens: async (cloud) => {
      const options = { kind: 'execution', ...cold };
      const made = [];
      for (let slot = 0; slot <= slotsMax; slot += 1) {
        const session = await makeSession(cloud, options);
        await cloud.ask(`/api/sessions/${session.id}/exec`, post({ command: 'true' }));
        made.push(session);
      }
      const paused = await cloud.ask<{ sessions: readonly { id: string }[] }>('/api/sessions?status=paused');
      const evicted = made.find(({ id }) => paused.sessions.some((session) => session.id === id));
      if (evicted === undefined) throw new Error('no session is paused');
      const values = { ':ms': 1_000_000_000, ':now': Date.now() - 1 };
      await update(cloud, keys.session(evicted.id), {
        set: 'lastActiveAt = lastActiveAt - :ms, dueAt = :now',
        values,
      });
      await cloud.janitor({ sweep: 'due' });
    },
  },
  'the platform asks itself, with and without a sandbox, and once in vain': {
    metrics: ['SyntheticTurnMs', 'SyntheticSandboxMs', 'SyntheticChecksFailed'],
    happens: async (cloud) => {
      for (const check of ['turn', 'sandbox']) await cloud.synthetic({ check, url: cloud.url });
      await cloud.synthetic({ check: 'turn', url: 'http://127.0.0.1:1' }).catch(() => undefined);
    },
  },
  'an MCP server that never answers': {
    metrics: ['McpChecksFailed', 'McpServersLost'],
    happens: async (cloud) => {
      const name = `silent-${crypto.randomUUID()}`;
      const config = { transport: 'http', url: 'http://127.0.0.1:1/mcp' };
      await cloud.ask('/api/mcp/add', post({ name, config }));
      await eventually(
        () => cloud.ask<Health>('/api/mcp/health'),
        ({ mcps }) => mcps.some((one) => one.name === name && one.consecutiveFailures > 0),
        60_000,
      );
      // As if it had been tried for minutes: the next failure is the last.
      const failed = 'health.consecutiveFailures = :f, health.attempts = :a, health.lastCheck = :long';
      const set = `${failed}, duePk = :duePk, dueAt = :dueAt`;
      const values = { ':f': 7, ':a': 4, ':long': 1, ...dueValues('mcp', defaultProject, 1) };
      await update(cloud, keys.mcpServer(defaultProject, name), { set, values });
      await cloud.janitor({ sweep: 'mcp' });
    },
  },
  'a webhook whose receiver wants no more': {
    metrics: ['WebhookAttemptMs', 'WebhookAttemptsFailed', 'WebhooksDisabled'],
    happens: async (cloud) => {
      const receiver = createServer((_request, response) => response.writeHead(410).end());
      await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
      const { port } = receiver.address() as AddressInfo;
      const body = { url: `http://127.0.0.1:${port}/hook`, events: ['turn_completed'] };
      await cloud.ask('/api/webhooks', post(body));
      const agent = await openAgent(cloud);
      await agent.say('hello');
      await until(cloud, 'WebhooksDisabled');
      await agent.close();
      receiver.close();
    },
  },
};
