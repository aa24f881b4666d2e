/** A connection that comes while a turn publishes to subscribers that it read before: nothing of the turn is lost to it, or sent twice. */
import { expect, test } from 'vitest';
import { newSession } from '../../../tests/conformance/session-fixture.ts';
import { fake } from '../../../tests/fake.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import { eventFrame } from '../../contracts/frames.ts';
import type { ConnectionId } from '../../domain/ids.ts';
import { subscriberRefreshMs } from '../../domain/limits.ts';
import { deploymentOwner } from '../../domain/principal.ts';
import { greetMsMax } from '../../domain/subscriber.ts';
import type { TokenStore } from '../../ports/access.ts';
import type { McpServerStore } from '../../ports/mcp-servers.ts';
import { openPublisher } from '../events/publisher.ts';
import { sendGreeting } from './send-greeting.ts';

const connectionId = 'c' as ConnectionId;
const principal = { owner: deploymentOwner, scope: 'admin', tokenHash: 'h' } as const;
const entry = { type: 'system', data: { kind: 'note' } } as const;

/** The frames of a connection, where a turn publishes two events so many milliseconds after it came. */
const connected = async (since: number | undefined, moments: readonly number[]) => {
  const { ports, clock } = openQuietPorts();
  const session = { ...newSession(), status: 'running' as const };
  await ports.sessions.create(session, {});
  await ports.eventLog.append(session.id, [entry], 1);
  const frames: { readonly seq: number | null; readonly type: string }[] = [];
  const sockets = {
    post: async (_id: ConnectionId, text: string) => {
      frames.push(JSON.parse(text));
      return 'sent' as const;
    },
    close: async () => undefined,
  };
  const publisher = openPublisher({ ...ports, sockets }, session, { subscribers: [], readAt: clock.now });
  const cameAt = clock.now;
  const pending = [...moments];
  const publishNext = async (at: number) => {
    clock.now = Math.max(clock.now, at);
    pending.shift();
    const [event] = (await ports.eventLog.append(session.id, [entry], clock.now)) ?? [];
    if (event !== undefined) await publisher.publish([eventFrame(session.id, event)]);
  };
  const publishUntil = async (end: number) => {
    for (let at = pending[0]; at !== undefined && cameAt + at <= end; at = pending[0])
      await publishNext(cameAt + at);
    clock.now = Math.max(clock.now, end);
  };
  const world = { ...ports.world, sleep: (ms: number) => publishUntil(clock.now + ms) };
  const from = since === undefined ? {} : { since };
  await ports.connections.put({
    ...{ id: connectionId, sessionId: session.id, principal, connectedAt: clock.now },
    ...{ greetBy: clock.now + greetMsMax, ...from },
  });
  await sendGreeting(
    {
      ...{ ...ports, sockets, world },
      mcpServers: fake<McpServerStore>({ list: async () => [] }),
      tokens: fake<TokenStore>({ get: async () => undefined }),
      recursionDepthMax: 0,
      checkProvider: () => undefined,
    },
    { connectionId },
  );
  await publishUntil(cameAt + 10 * subscriberRefreshMs);
  return frames.map(({ type, seq }) => seq ?? type);
};

test.each([
  [1, subscriberRefreshMs / 2],
  [1, subscriberRefreshMs],
  [subscriberRefreshMs, subscriberRefreshMs + 1],
  [subscriberRefreshMs / 2, 2 * subscriberRefreshMs],
  [3 * subscriberRefreshMs, 4 * subscriberRefreshMs],
])('what is published %i ms and %i ms after it came reaches it once, in order', async (...moments) => {
  expect(await connected(-1, moments)).toEqual(['system:ready', 0, 1, 2]);
  expect(await connected(undefined, moments)).toEqual(['system:ready', 1, 2]);
});
