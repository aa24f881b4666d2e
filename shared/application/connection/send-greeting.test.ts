import { expect, test } from 'vitest';
import { newSession } from '../../../tests/conformance/session-fixture.ts';
import { fake } from '../../../tests/fake.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { ConnectionId } from '../../domain/ids.ts';
import { clocksApartMsMax, eventsPerSessionMax } from '../../domain/limits.ts';
import { deploymentOwner } from '../../domain/principal.ts';
import type { Session } from '../../domain/session.ts';
import { awaitsGreeting, greetMsMax } from '../../domain/subscriber.ts';
import { AppError } from '../../errors.ts';
import type { TokenStore } from '../../ports/access.ts';
import type { ConnectionStore } from '../../ports/connections.ts';
import type { McpServerStore } from '../../ports/mcp-servers.ts';
import type { SessionStore } from '../../ports/session-store.ts';
import { sendGreeting } from './send-greeting.ts';

const connectionId = 'c' as ConnectionId;

type Connected = Partial<Pick<Session, 'kind' | 'provider'>> & {
  readonly checkProvider?: () => void;
  /** It has descendants, of which one cannot be read. */
  readonly isTreeBroken?: boolean;
  /** Events that are appended, each with a frame that is refused, before `$connect` has returned; and right after. */
  readonly meanwhile?: number;
  readonly behind?: number;
  /** Milliseconds by which the clock that dates the first of these is ahead. */
  readonly aheadMs?: number;
  /** Posts of an event that are refused, since the client reads slowly. */
  readonly slowPosts?: number;
  readonly onClosed?: () => void;
  /** The milliseconds that are left to greet it, where others wait for that. */
  readonly greetMs?: number;
  /** Others greet or close it before this greeter does. */
  readonly before?: (connections: ConnectionStore, session: Session) => Promise<unknown>;
  /** Posts as a publisher does, while the first frame is posted. */
  readonly onFirst?: (ports: ReturnType<typeof openQuietPorts>['ports'], session: Session) => Promise<void>;
};

/** The frames of a connection to a session whose log has this many events, the oldest of which may be purged. */
const connected = async (events: number, since: number | undefined, fields: Connected = {}) => {
  const { ports } = openQuietPorts();
  const { kind = 'agent', provider } = fields;
  const session = { ...newSession(), kind, ...(provider === undefined ? {} : { provider }) };
  await ports.sessions.create(session, {});
  const entry = { type: 'system', data: { kind: 'note' } } as const;
  for (let left = events; left > 0; left -= 40)
    await ports.eventLog.append(session.id, Array(Math.min(left, 40)).fill(entry), 1);
  const principal = { owner: deploymentOwner, scope: 'admin', tokenHash: 'h' } as const;
  const { greetMs } = fields;
  await ports.connections.put({
    ...{
      id: connectionId,
      sessionId: session.id,
      principal,
      connectedAt: 1,
      ...(since === undefined ? {} : { since }),
      ...(greetMs === undefined ? {} : { greetBy: ports.world.now() + greetMs }),
    },
  });
  await fields.before?.(ports.connections, session);
  let { meanwhile = 0, behind = 0, slowPosts = 0 } = fields;
  const { aheadMs = 0 } = fields;
  const frames: { readonly seq: number | null; readonly type: string; readonly data: object }[] = [];
  const connection = {
    ...ports,
    sockets: {
      post: async (_id: ConnectionId, text: string) => {
        if (meanwhile > 0) {
          meanwhile -= 1;
          await ports.eventLog.append(session.id, [entry], ports.world.now() + aheadMs);
          return 'gone' as const;
        }
        if (frames.length === 0) await fields.onFirst?.(ports, session);
        if (JSON.parse(text).seq === 2 && slowPosts-- > 0) return 'slow' as const;
        frames.push(JSON.parse(text));
        for (; behind > 0; behind -= 1)
          await ports.eventLog.append(session.id, [entry], ports.world.now() + clocksApartMsMax + 1);
        return 'sent' as const;
      },
      close: async () => fields.onClosed?.(),
    },
    mcpServers: fake<McpServerStore>({ list: async () => [] }),
    tokens: fake<TokenStore>({ get: async () => undefined }),
    recursionDepthMax: 0,
    checkProvider: fields.checkProvider ?? (() => undefined),
    ...(fields.isTreeBroken ? { sessions: withBrokenTree(ports.sessions) } : {}),
  };
  await sendGreeting(connection, { connectionId });
  return frames;
};

const withBrokenTree = (sessions: SessionStore): SessionStore => ({
  ...sessions,
  get: async (id) => {
    const session = await sessions.get(id);
    return session && { ...session, hasChildren: true };
  },
  descendants: () => Promise.reject(new Error('a record of a newer release')),
});

test('a descendant that cannot be read closes no connection to the root', async () => {
  let closings = 0;
  const frames = await connected(2, -1, { isTreeBroken: true, onClosed: () => (closings += 1) });
  expect(frames.map(({ type }) => type)).toEqual(['system:ready', 'system', 'system']);
  expect(closings).toBe(0);
});

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

test.each([0, 2])(
  'a replay after a number beyond the log of %i events begins with what comes while it is greeted',
  async (events) => {
    const frames = await connected(events, 1000, { behind: 1 });
    expect(frames.map(({ type, seq }) => [type, seq])).toEqual([
      ['system:ready', null],
      ['system', events],
    ]);
  },
);

test.each([
  ['agent', 'error'],
  ['execution', 'system:ready'],
] as const)('without a usable provider a session of kind %s begins with %s', async (kind, type) => {
  const checkProvider = () => {
    throw new AppError('provider_not_configured', 'a key is required');
  };
  const [first] = await connected(0, -1, { kind, checkProvider });
  expect(first?.type).toBe(type);
});

test.each([
  ['demo', 'no language model'],
  ['anthropic', undefined],
] as const)('with the provider %s the first frame has the note %s', async (provider, note) => {
  const [ready] = await connected(0, -1, { provider });
  expect(ready?.data).toMatchObject({ provider });
  const found = ready && 'note' in ready.data ? ready.data.note : undefined;
  expect(found).toEqual(note && expect.stringContaining(note));
});

test.each([0, clocksApartMsMax])(
  'events whose frames were refused before the connection was open are sent to it by a clock %i ms behind, later ones are not',
  async (aheadMs) => {
    const frames = await connected(3, undefined, { meanwhile: 2, behind: 2, aheadMs });
    expect(frames.map(({ type, seq }) => [type, seq])).toEqual([
      ['system:ready', null],
      ['system', 3],
      ['system', 4],
    ]);
  },
);

test('a client that reads slowly for a while gets each event, in order', async () => {
  const [, ...frames] = await connected(5, -1, { slowPosts: 30 });
  expect(frames.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4]);
});

test('one that reads nothing for too long is closed after the last event that it took', async () => {
  let closings = 0;
  const [, ...frames] = await connected(5, -1, { slowPosts: 1000, onClosed: () => (closings += 1) });
  expect(frames.map(({ seq }) => seq)).toEqual([0, 1]);
  expect(closings).toBe(1);
});

test('an event of the time before the greeting reaches no subscriber, and is replayed behind it', async () => {
  const passedOver: ConnectionId[] = [];
  const frames = await connected(3, undefined, {
    greetMs: greetMsMax,
    onFirst: async (ports, { id }) => {
      await ports.eventLog.append(id, [{ type: 'system', data: { kind: 'note' } }], ports.world.now());
      const subscribers = await ports.connections.subscribers(id);
      passedOver.push(
        ...subscribers.filter((one) => awaitsGreeting(one, ports.world.now())).map((one) => one.id),
      );
    },
  });
  expect(passedOver).toEqual([connectionId]);
  expect(frames.map(({ type, seq }) => [type, seq])).toEqual([
    ['system:ready', null],
    ['system', 3],
  ]);
});

test.each([
  ['is closed', async () => undefined, 1],
  [
    'that another greeted stays',
    async (connections: ConnectionStore, { id }: Session) => connections.greeted(id, connectionId),
    0,
  ],
] as const)('a connection whose greeter is late %s, and gets no greeting', async (_, before, closed) => {
  let closings = 0;
  const onClosed = () => (closings += 1);
  expect(await connected(1, -1, { greetMs: clocksApartMsMax, before, onClosed })).toEqual([]);
  expect(closings).toBe(closed);
});

test('one that closes while it is greeted gets nothing else', async () => {
  const frames = await connected(3, -1, {
    greetMs: greetMsMax,
    onFirst: async ({ connections }) => void (await connections.remove(connectionId)),
  });
  expect(frames.map(({ type }) => type)).toEqual(['system:ready']);
});

test.each(['session', 'approver'] as const)(
  'a client of kind %s that has left before its first frame is not waited for',
  async (kind) => {
    const { ports } = openQuietPorts();
    const session = newSession();
    await ports.sessions.create(session, {});
    const principal = { owner: deploymentOwner, scope: 'admin', tokenHash: 'h' } as const;
    const sessionId = kind === 'session' ? { sessionId: session.id } : {};
    await ports.connections.put({ id: connectionId, principal, connectedAt: 1, ...sessionId });
    let posts = 0;
    const sockets = {
      ...ports.sockets,
      post: async () => {
        posts += 1;
        if (posts === 3) await ports.connections.remove(connectionId);
        return 'gone' as const;
      },
    };
    const mcpServers = fake<McpServerStore>({ list: async () => [] });
    const tokens = fake<TokenStore>({ get: async () => undefined });
    const beside = { sockets, mcpServers, tokens, recursionDepthMax: 0, checkProvider: () => undefined };
    await sendGreeting({ ...ports, ...beside }, { connectionId });
    expect(posts).toBe(8);
  },
);

test('one whose greeter fails is closed', async () => {
  let closings = 0;
  const checkProvider = () => {
    throw new Error('the table is away');
  };
  await expect(connected(0, -1, { checkProvider, onClosed: () => (closings += 1) })).rejects.toThrow('away');
  expect(closings).toBe(1);
});
