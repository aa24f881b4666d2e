/** The record of the features that a deployment uses: marked by the first of each, read with a session. */

import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeConnectionStore } from '#shared/adapters/aws/dynamo/connection-store.ts';
import { makeMcpServerStore } from '#shared/adapters/aws/dynamo/mcp-servers.ts';
import { makeWebhookStore } from '#shared/adapters/aws/dynamo/webhooks.ts';
import { sendGreeting } from '#shared/application/connection/send-greeting.ts';
import type { ConnectionDeps } from '#shared/application/deps.ts';
import { seenMsMax } from '#shared/domain/features.ts';
import type { ConnectionId, ProjectId, SessionId } from '#shared/domain/ids.ts';
import type { McpServer } from '#shared/domain/mcp/server.ts';
import { deploymentOwner } from '#shared/domain/principal.ts';
import { newSession, onTable } from './session-fixture.ts';
import { openTableFixture, type TableFixture } from './table-fixture.ts';
import { newWebhook } from './webhook-fixture.ts';

let fixture: TableFixture;
beforeEach(async () => {
  fixture = await openTableFixture();
});
afterEach(() => fixture.close());

const hourMs = 3_600_000;
const start = 1_790_000_000_000;
const none = { webhooks: false, mcpServers: false, approversUntil: 0 };
const principal = { owner: deploymentOwner, scope: 'admin', tokenHash: 'h' } as const;

const openDeployment = async () => {
  const { turns, create } = onTable(fixture.table);
  const { id } = await create(newSession());
  const connections = makeConnectionStore(fixture.table);
  const connect = async (connectedAt: number, sessionId?: SessionId): Promise<ConnectionId> => {
    const connection = crypto.randomUUID() as ConnectionId;
    await connections.put({ id: connection, principal, connectedAt, ...(sessionId && { sessionId }) });
    return connection;
  };
  const features = async () => (await turns.getWithTurn(id, { withFeatures: true }))?.features;
  return { id, turns, connections, connect, features };
};

test('a session is read with them on request, and a new deployment uses none', async () => {
  const { id, turns, features } = await openDeployment();
  expect(await features()).toEqual(none);
  expect(Object.keys((await turns.getWithTurn(id)) ?? {})).toEqual(['session', 'turn']);
});

test('the first webhook and the first server mark their feature, and their deletion keeps the mark', async () => {
  const { features } = await openDeployment();
  const webhooks = makeWebhookStore(fixture.table);
  const webhook = newWebhook();
  expect(await webhooks.create(webhook, { secret: 's', version: 1 })).toBe('moved');
  expect(await features()).toEqual(none);
  expect(await webhooks.create(webhook, { secret: 's', version: 0 })).toBe('created');
  await webhooks.remove(webhook.id, []);
  expect(await features()).toEqual({ ...none, webhooks: true });
  const servers = makeMcpServerStore(fixture.table);
  const server: McpServer = {
    project: crypto.randomUUID() as ProjectId,
    name: 'one',
    config: { transport: 'http', url: 'https://mcp.example.com/mcp' },
    isEnabled: true,
    health: { status: 'reconnecting', consecutiveFailures: 0, attempts: 0 },
    createdAt: 1000,
    version: 0,
  };
  expect(await servers.add(server, { serversMax: 1, dueAt: 1 })).toBe('added');
  expect(await features()).toEqual({ ...none, webhooks: true, mcpServers: true });
});

test('a socket of an approver is recorded for longer than it can be open, and one of a session marks nothing', async () => {
  const { id, connect, features, connections } = await openDeployment();
  await connect(start, id);
  expect(await features()).toEqual(none);
  expect(await connections.approversSince()).toBe(0);
  await connect(start);
  expect(await features()).toEqual({ ...none, approversUntil: start + 6 * hourMs });
  for (let at = start; at < start + 20 * hourMs; at += hourMs / 2) {
    await connect(at);
    expect((await features())?.approversUntil).toBeGreaterThanOrEqual(at + 3 * hourMs);
    expect(await connections.approversSince()).toBe(start);
  }
  await connect(start + 40 * hourMs);
  expect(await connections.approversSince()).toBe(start + 40 * hourMs);
});

test('approvers that connect while functions may consider them absent receive the number again', async () => {
  const { connect, connections } = await openDeployment();
  const clock = { now: start };
  const greet = async (connectionId: ConnectionId) => {
    const posts: number[] = [];
    const ports = {
      connections,
      approvals: { count: async () => 0 },
      sockets: {
        post: async () => {
          posts.push(clock.now);
          return 'sent' as const;
        },
      },
      correlation: { id: () => 'c' },
      world: {
        now: () => clock.now,
        sleep: async (milliseconds: number) => {
          clock.now += milliseconds;
        },
      },
    } as unknown as ConnectionDeps;
    await sendGreeting(ports, { connectionId });
    return posts;
  };
  const [first, second] = await greet(await connect(start));
  expect(first).toBe(start);
  expect(second).toBeGreaterThan(start + seenMsMax);
  clock.now = start + seenMsMax - 1;
  expect((await greet(await connect(clock.now))).at(-1)).toBe(second);
  clock.now = start + 2 * seenMsMax;
  expect(await greet(await connect(clock.now))).toEqual([clock.now]);
});
