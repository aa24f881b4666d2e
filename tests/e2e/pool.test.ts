/** The warm pool: who claims from it, who does not, how it is filled again, and that a claim changes the lock. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { makeEventLog } from '#shared/adapters/aws/dynamo/event-log.ts';
import { makeInbox } from '#shared/adapters/aws/dynamo/inbox.ts';
import { makeSessionStore } from '#shared/adapters/aws/dynamo/session-store.ts';
import { makeTurnStore } from '#shared/adapters/aws/dynamo/turn-store.ts';
import { makeWebhookStore } from '#shared/adapters/aws/dynamo/webhooks.ts';
import { makeWorkspaceStore } from '#shared/adapters/aws/dynamo/workspace-store.ts';
import { bearerOf } from '#shared/adapters/aws/sandbox-bearer.ts';
import { systemWorld } from '#shared/adapters/system-world.ts';
import type { SandboxDeps } from '#shared/application/deps.ts';
import { drainPool } from '#shared/application/janitor/fill-pool.ts';
import { poolEntries } from '#shared/domain/pool.ts';
import {
  endSession,
  makeSession,
  openAgent,
  sandboxRecord,
  showSession,
  systemData,
  systemEvents,
} from './agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import { openHeldStarts } from './held-starts.ts';
import { killServer, serverOf } from './sandbox-processes.ts';

const secret = 'a secret of at least thirty-two characters';
const starts = openHeldStarts({ provisioningMs: 3000 });

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud({
    // Agents are micro by default: so every pool entry fits every session.
    variables: { POOL_SIZE: '2', MSB_DEFAULT_FLAVOR: 'micro', MSB_MAX_SESSIONS: '60' },
    startSandboxHost: starts.startSandboxHost,
  });
});
afterAll(() => cloud.stop());

type Pool = { readonly ready: number; readonly target: number };

const pool = async (): Promise<Pool> => (await cloud.ask<{ pool: Pool }>('/api/stats')).pool;

// Of a test that failed while they were held.
afterEach(starts.release);
beforeEach(async () => {
  await cloud.janitor({ sweep: 'pool' });
  await eventually(pool, ({ ready }) => ready === 2);
});

const make = (options: object = {}) => makeSession(cloud, { kind: 'execution', ...options });
const listFiles = (id: string): Promise<object> => cloud.ask(`/api/sessions/${id}/files`);

/** Where the sandbox of each session came from, as its log says. */
const sourcesOf = async (ids: readonly string[]): Promise<readonly unknown[]> => {
  const started = await Promise.all(ids.map((id) => systemEvents(cloud, id, 'sandbox_started')));
  return started.flat().map(({ source }) => source);
};

test('first commands from the pool do not wait for a start, and the pool is refilled', async () => {
  starts.hold();
  const cold = await make({ flavor: 'small' });
  const coldAgent = await openAgent(cloud, { flavor: 'small' });
  let coldAnswers = 0;
  const answered = [listFiles(cold.id), coldAgent.say('$ echo cold')].map(async (answer) => {
    await answer;
    coldAnswers += 1;
  });

  const warm = await make();
  await listFiles(warm.id);
  expect(await sourcesOf([warm.id])).toEqual(['pool']);
  expect((await showSession(cloud, warm.id)).sandbox).toMatchObject({ state: 'ready', source: 'pool' });

  const agent = await openAgent(cloud, { flavor: undefined });
  const frames = await agent.say('$ echo warm');
  expect(systemData(frames, 'sandbox_started')).toEqual([
    { kind: 'sandbox_started', source: 'pool', startMs: expect.any(Number) },
  ]);

  // Of the two cold sessions, and of the pool entries that the warm ones left.
  await eventually(
    async () => starts.count(),
    (count) => count === 4,
  );
  expect(coldAnswers).toBe(0);
  starts.release();
  await Promise.all(answered);
  expect(await sourcesOf([cold.id, coldAgent.id])).toEqual(['cold', 'cold']);
  // Nobody but the claims has asked for it.
  expect(await eventually(pool, ({ ready }) => ready === 2)).toEqual({ ready: 2, target: 2 });
  await Promise.all([
    coldAgent.close(),
    agent.close(),
    endSession(cloud, cold.id),
    endSession(cloud, warm.id),
  ]);
});

test('of ten concurrent sessions on a pool of two exactly two are warm, and all ten work separately', async () => {
  // The pool entries that the first two leave are not filled again before the tenth has come.
  starts.hold();
  const sessions = await Promise.all(Array.from({ length: 10 }, () => make()));
  const put = (id: string) => cloud.request(`/api/sessions/${id}/files/mine`, { method: 'PUT', body: id });
  const asked = sessions.map(({ id }) => put(id));
  await eventually(
    async () => starts.count(),
    (count) => count === 10,
  );
  starts.release();
  const answers = await Promise.all(asked);
  // An answer that began before its sandbox had started has the status 200, and would have an error in its body.
  for (const answer of answers) {
    expect([200, 201]).toContain(answer.status);
    expect(await answer.json()).not.toHaveProperty('error');
  }
  const sources = await sourcesOf(sessions.map(({ id }) => id));
  expect(sources.toSorted()).toEqual([...Array(8).fill('cold'), ...Array(2).fill('pool')]);
  const records = await Promise.all(sessions.map(({ workspace }) => sandboxRecord(cloud, workspace)));
  expect(new Set(records.map(({ taskArn }) => taskArn)).size).toBe(10);
  for (const { id } of sessions) {
    const got = await cloud.request(`/api/sessions/${id}/files/mine`);
    expect(await got.text()).toBe(id);
  }
  await Promise.all(sessions.map(({ id }) => endSession(cloud, id)));
});

test('a claimed sandbox accepts its new bearer and not that of its pool entry', async () => {
  const [entryRecord] = await Promise.all(poolEntries(1).map((entry) => sandboxRecord(cloud, entry)));
  const status = async (address: string, bearer: string): Promise<number> => {
    const response = await fetch(`${address}/health`, { headers: { authorization: `Bearer ${bearer}` } });
    await response.body?.cancel();
    return response.status;
  };
  const entryBearer = bearerOf(secret, 'pool-0', entryRecord?.generation ?? 0);
  expect(await status(entryRecord?.address ?? '', entryBearer)).toBe(200);

  const sessions = await Promise.all([make(), make()]);
  await Promise.all(sessions.map(({ id }) => listFiles(id)));
  expect(await sourcesOf(sessions.map(({ id }) => id))).toEqual(['pool', 'pool']);
  for (const { workspace } of sessions) {
    const { address = '', generation, warm } = await sandboxRecord(cloud, workspace);
    expect(generation).toBe(1);
    const old = bearerOf(secret, warm?.entry ?? '', warm?.generation ?? 0);
    expect(await status(address, old)).toBe(401);
    expect(await status(address, bearerOf(secret, workspace, generation))).toBe(200);
    const claim = { method: 'POST', headers: { authorization: `Bearer ${old}` }, body: '{}' };
    expect((await fetch(`${address}/claim`, claim)).status).toBe(401);
  }
  await Promise.all(sessions.map(({ id }) => endSession(cloud, id)));
});

test('a killed claimed sandbox is reported to its session, and a killed pool entry is refilled', async () => {
  const { id, workspace } = await make();
  await listFiles(id);
  expect(await sourcesOf([id])).toEqual(['pool']);
  killServer(cloud.home, (await sandboxRecord(cloud, workspace)).taskArn ?? '');
  const { sandbox } = await eventually(
    () => showSession(cloud, id),
    (session) => session.sandbox?.state === 'stopped',
  );
  expect(sandbox?.reason).toContain('exit code 137');
  // The event is written a moment after the record.
  const stops = await eventually(
    () => systemEvents(cloud, id, 'sandbox_stopped'),
    ({ length }) => length > 0,
  );
  expect(stops).toHaveLength(1);
  await endSession(cloud, id);

  await eventually(pool, ({ ready }) => ready === 2);
  const { taskArn = '' } = await sandboxRecord(cloud, 'pool-1');
  await eventually(
    async () => serverOf(cloud.home, taskArn),
    (server) => server !== undefined,
  );
  killServer(cloud.home, taskArn);
  await eventually(pool, ({ ready }) => ready === 1);
  expect(await cloud.janitor({ sweep: 'pool' })).toMatchObject({ started: 1 });
  await eventually(pool, ({ ready }) => ready === 2);
});

test('a smaller pool stops its last pool entry', async () => {
  const before = await sandboxRecord(cloud, 'pool-1');
  const ports = {
    workspaces: makeWorkspaceStore(cloud.table),
    sessions: makeSessionStore(cloud.table),
    turns: makeTurnStore(cloud.table),
    eventLog: makeEventLog(cloud.table),
    inbox: makeInbox(cloud.table),
    webhooks: makeWebhookStore(cloud.table),
    noticeSender: { sendNotices: () => Promise.resolve() },
    correlation: { id: () => 'test' },
    world: systemWorld,
    host: { start: () => Promise.reject(new Error('a drain starts nothing')) },
    bearerHash: () => '',
    telemetry: { info: ignore, warn: ignore, error: ignore, count: ignore, duration: ignore },
    invoker: {
      runTurn: () => Promise.resolve(),
      fillPool: () => Promise.resolve(),
      checkMcpServer: () => Promise.resolve(),
      holdRelay: () => Promise.resolve(),
      connected: () => Promise.resolve(),
      stopSandbox: async (workspaceId: string) => {
        await cloud.janitor({ sweep: 'stop', workspaceId });
      },
    },
  };
  const flavors = { execution: 'micro', agent: 'micro' } as const;
  expect(await drainPool(ports as unknown as SandboxDeps, { size: 1, flavors, template: 'python' })).toBe(1);
  const after = await eventually(
    () => sandboxRecord(cloud, 'pool-1'),
    ({ state }) => state === 'stopped',
  );
  expect(after).toMatchObject({ generation: before.generation, stoppedReason: 'the pool became smaller' });
  expect((await cloud.runningTasks()).includes(before.taskArn ?? '')).toBe(false);
  expect((await sandboxRecord(cloud, 'pool-0')).state).toBe('ready');
});

const ignore = (): void => undefined;
