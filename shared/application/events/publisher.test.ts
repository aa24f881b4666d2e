/**
 * Frames for subscribers that the gateway does not know: one that has left is removed, one that is just coming stays. One that was not
 * greeted yet is passed over.
 */
import { expect, test } from 'vitest';
import { makeConnectionStore } from '#shared/adapters/aws/dynamo/connection-store.ts';
import { deploymentOwner } from '#shared/domain/principal.ts';
import { fake } from '../../../tests/fake.ts';
import { openMemoryTable, tableOver } from '../../../tests/simulation/memory-table.ts';
import { unnumberedFrame } from '../../contracts/frames.ts';
import type { ConnectionId, SessionId } from '../../domain/ids.ts';
import { connectMsMax } from '../../domain/limits.ts';
import { greetMsMax } from '../../domain/subscriber.ts';
import type { PublishDeps } from '../deps.ts';
import { openPublisher } from './publisher.ts';

const now = 1_000_000;
const sessionId = 's' as SessionId;
const principal = { owner: deploymentOwner, scope: 'admin', tokenHash: 'h' } as const;

test('a subscriber whose connection is being opened misses frames and stays; one that has left is removed', async () => {
  const memory = openMemoryTable();
  const connections = makeConnectionStore(tableOver(async (command) => memory.execute(command).output));
  const [coming, left] = ['coming', 'left'] as [ConnectionId, ConnectionId];
  await connections.put({ id: coming, sessionId, principal, connectedAt: now - connectMsMax });
  await connections.put({ id: left, sessionId, principal, connectedAt: now - connectMsMax - 1 });
  let answer: 'gone' | 'sent' = 'gone';
  const posted: ConnectionId[] = [];
  const ports = fake<PublishDeps>({
    connections,
    sockets: fake<PublishDeps['sockets']>({
      post: async (id) => {
        posted.push(id);
        return answer;
      },
    }),
    telemetry: fake<PublishDeps['telemetry']>({ count: () => undefined }),
    world: fake<PublishDeps['world']>({ now: () => now }),
  });
  const data = { kind: 'session_paused' };
  const frame = unnumberedFrame('system', { sessionId, at: now, data });
  const { publish } = openPublisher(ports, { id: sessionId });
  await publish([frame]);
  expect(await connections.subscribers(sessionId)).toEqual([{ id: coming }]);
  // Once its connection is open it gets the next frame at once.
  answer = 'sent';
  await publish([frame]);
  expect(posted).toEqual([coming, left, coming]);
});

test('a subscriber gets nothing before it was greeted, each event from then on, and all once its greeter is late', async () => {
  const memory = openMemoryTable();
  const clock = { now };
  let queries = 0;
  const connections = makeConnectionStore(
    tableOver(async (command) => {
      if (command.constructor.name === 'QueryCommand') queries += 1;
      return memory.execute(command).output;
    }),
  );
  const [fresh, lost] = ['fresh', 'lost'] as [ConnectionId, ConnectionId];
  const greetBy = now + greetMsMax;
  for (const id of [fresh, lost])
    await connections.put({ id, sessionId, principal, connectedAt: now, greetBy });
  const posted: string[] = [];
  const ports = fake<PublishDeps>({
    connections,
    sockets: fake<PublishDeps['sockets']>({
      post: async (id, text) => {
        posted.push(`${id} ${JSON.parse(text).type}`);
        return 'sent';
      },
    }),
    world: fake<PublishDeps['world']>({ now: () => clock.now }),
  });
  const { publish } = openPublisher(
    ports,
    { id: sessionId },
    { subscribers: await connections.subscribers(sessionId), readAt: now },
  );
  queries = 0;
  const [event, piece] = (['system', 'delta'] as const).map((type) =>
    unnumberedFrame(type, { sessionId, at: now, data: {} }),
  );
  if (event === undefined || piece === undefined) throw new Error('no frames');
  await publish([event, piece]);
  expect(posted).toEqual([]);
  expect(await connections.greeted(sessionId, fresh)).toBe(true);
  queries = 0;
  await publish([piece]);
  expect([posted, queries]).toEqual([[], 0]);
  await publish([event]);
  expect([posted, queries]).toEqual([['fresh system'], 1]);
  clock.now = greetBy;
  await publish([event]);
  expect(posted.slice(1)).toEqual(['fresh system', 'lost system']);
  queries = 0;
  await publish([event]);
  expect(queries).toBe(0);
});

test('a subscriber that joins gets what no log has: its greeter reads the log, and cannot know of the rest', async () => {
  const memory = openMemoryTable();
  const connections = makeConnectionStore(tableOver(async (command) => memory.execute(command).output));
  const [joins, waits] = ['joins', 'waits'] as [ConnectionId, ConnectionId];
  for (const id of [joins, waits])
    await connections.put({ id, sessionId, principal, connectedAt: now, greetBy: now + greetMsMax });
  await connections.greeted(sessionId, joins, { joinBy: now + 5000 });
  const posted: string[] = [];
  const ports = fake<PublishDeps>({
    connections,
    sockets: fake<PublishDeps['sockets']>({
      post: async (id, text) => {
        const { type, seq, data } = JSON.parse(text);
        posted.push(`${id} ${type} ${seq ?? data.kind}`);
        return 'sent';
      },
    }),
    telemetry: fake<PublishDeps['telemetry']>({ count: () => undefined }),
    world: fake<PublishDeps['world']>({ now: () => now }),
  });
  const settled = unnumberedFrame('system', { sessionId, at: now, data: { kind: 'child_settled' } });
  const logged = { ...settled, seq: 7 };
  const piece = { ...settled, type: 'delta' as const };
  await openPublisher(ports, { id: sessionId }).publish([logged, settled, piece]);
  expect(posted).toEqual([`${joins} system child_settled`]);
});
