import { expect, test } from 'vitest';
import { newSession } from '../../../tests/conformance/session-fixture.ts';
import { fake } from '../../../tests/fake.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { ConnectionId } from '../../domain/ids.ts';
import { eventsPerSessionMax } from '../../domain/limits.ts';
import { deploymentOwner } from '../../domain/principal.ts';
import type { McpServerStore } from '../../ports/mcp-servers.ts';
import { onConnected } from './on-connected.ts';

const connectionId = 'c' as ConnectionId;

/** The frames of a connection to a session whose log has this many events, the oldest of which may be purged. */
const connected = async (events: number, since: number) => {
  const { ports } = openQuietPorts();
  const session = newSession();
  await ports.sessions.create(session, { slotsMax: 10 });
  const entry = { type: 'system', data: { kind: 'note' } } as const;
  for (let left = events; left > 0; left -= 40)
    await ports.eventLog.append(session.id, Array(Math.min(left, 40)).fill(entry), 1);
  const principal = { owner: deploymentOwner, scope: 'admin', tokenHash: 'h' } as const;
  await ports.connections.put({
    ...{ id: connectionId, sessionId: session.id, principal, connectedAt: 1, since },
  });
  const frames: { readonly seq: number | null; readonly type: string; readonly data: object }[] = [];
  const connection = {
    ...ports,
    sockets: {
      post: async (_id: ConnectionId, text: string) => {
        frames.push(JSON.parse(text));
        return 'sent' as const;
      },
      close: async () => undefined,
    },
    mcpServers: fake<McpServerStore>({ list: async () => [] }),
    recursionDepthMax: 0,
    checkProvider: () => undefined,
  };
  await onConnected(connection, { connectionId, correlationId: 'c' });
  return frames;
};

const purged = { seq: null, type: 'system', data: { kind: 'events_purged', oldestIndex: 92 } };

test.each([0, 90, -1])(
  'a replay after %i, below the log, is preceded by a frame that says so',
  async (since) => {
    const [ready, first, second, ...rest] = await connected(eventsPerSessionMax + 92, since);
    expect(ready?.type).toBe('system:ready');
    expect(first).toMatchObject(purged);
    expect(second?.seq).toBe(92);
    expect(rest).toHaveLength(eventsPerSessionMax - 1);
  },
);

test.each([
  [eventsPerSessionMax + 92, 91, eventsPerSessionMax],
  [3, -1, 3],
  [3, 2, 0],
])('of %i events, a replay after %i within the log has no such frame', async (events, since, replayed) => {
  const [, ...frames] = await connected(events, since);
  expect(frames.map(({ data }) => data)).toEqual(Array(replayed).fill({ kind: 'note' }));
});
