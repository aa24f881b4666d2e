/** Frames for subscribers that the gateway does not know: one that has left is removed, one that is just coming stays. */
import { expect, test } from 'vitest';
import { makeConnectionStore } from '#shared/adapters/aws/dynamo/connection-store.ts';
import { deploymentOwner } from '#shared/domain/principal.ts';
import { fake } from '../../../tests/fake.ts';
import { openMemoryTable, tableOver } from '../../../tests/simulation/memory-table.ts';
import { unnumberedFrame } from '../../contracts/frames.ts';
import type { ConnectionId, SessionId } from '../../domain/ids.ts';
import { connectMsMax } from '../../domain/limits.ts';
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
  expect(await connections.subscribers(sessionId)).toEqual([coming]);
  // Once its connection is open it gets the next frame at once.
  answer = 'sent';
  await publish([frame]);
  expect(posted).toEqual([coming, left, coming]);
});
