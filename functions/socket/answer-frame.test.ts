/** Frames that fail or are refused: an `error` names its message, and a connection that sends too many gets one alone. */
import { expect, test } from 'vitest';
import type { FrameVerdict } from '#shared/application/access/frame-meter.ts';
import type { ConnectionId, SessionId } from '#shared/domain/ids.ts';
import { deploymentOwner } from '#shared/domain/principal.ts';
import { newSession, workspaceOf } from '../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../tests/simulation/quiet-ports.ts';
import { answerFrame, type FramePorts, type FrameSettings } from './answer-frame.ts';

const sessionId = '00000000-0000-4000-8000-000000000000' as SessionId;

type Posted = {
  readonly type: string;
  readonly data: { readonly error?: { readonly code: string }; readonly messageId?: string };
};

const framesAfter = async (
  verdict: FrameVerdict,
  body: string,
  more: object = {},
): Promise<readonly Posted[]> => {
  const posted: Posted[] = [];
  const known = {
    ...openQuietPorts().ports,
    awaitGreeting: async () => true,
    frameMeter: { take: async () => verdict, forget: () => undefined },
    sockets: {
      post: async (_id: string, text: string) => void posted.push(JSON.parse(text)),
      close: async () => {
        throw new Error('the connection stays');
      },
    },
    adminTokenHash: 'hash',
    ...more,
  };
  const request = {
    ...{ connectionId: 'c' as ConnectionId, sessionId, query: {}, subprotocols: [], body },
    ...{ connectedAt: 1000, acceptedAt: 1000, correlationId: 'r' },
    principal: { owner: deploymentOwner, scope: 'admin' as const, tokenHash: 'hash' },
  };
  await answerFrame(known as unknown as FramePorts, request, {} as FrameSettings);
  return posted;
};

const answers = async (verdict: FrameVerdict, body: string, more?: object) =>
  (await framesAfter(verdict, body, more)).map(({ type, data }) => [type, data.error?.code]);

const ping = '{"action":"ping"}';
const stop = '{"action":"session:stop"}';

test('a frame within the rate is answered', async () => {
  expect(await answers('allowed', ping)).toEqual([['pong', undefined]]);
});

test.each([ping, stop, 'no JSON'])(
  '%s above the rate has no effect, and gets at most one error',
  async (body) => {
    expect(await answers('refused', body)).toEqual([['error', 'rate_limited']]);
    expect(await answers('quiet', body)).toEqual([]);
  },
);

test('an error about a message names it, and one about another action names nothing', async () => {
  const message = (fields: object) => JSON.stringify({ action: 'message', text: 'hello', ...fields });
  const named = async (body: string) =>
    (await framesAfter('allowed', body)).map(({ data }) => [data.error?.code, data.messageId]);
  expect(await named(message({ messageId: 'm1' }))).toEqual([['session_not_found', 'm1']]);
  expect(await named(message({}))).toEqual([['session_not_found', undefined]]);
  expect(await named(stop)).toEqual([['session_not_found', undefined]]);
});

test('an optional field that is null does not have its frame refused', async () => {
  const { sockets: _, ...stores } = openQuietPorts().ports;
  const session = newSession({ id: sessionId, owner: deploymentOwner });
  await stores.sessions.create(session, { workspace: workspaceOf(session) });
  const frame = { action: 'message', text: 'hello', messageId: null, model: null };
  expect(await answers('allowed', JSON.stringify(frame), stores)).toEqual([]);
  const { inbox } = await stores.turns.loadWork(sessionId);
  expect(inbox).toMatchObject([{ text: 'hello', messageId: expect.any(String) }]);
  expect(inbox[0]).not.toHaveProperty('model');
});

const idOf = (digit: number) => `00000000-0000-4000-8000-00000000000${digit}`;
const [root, sibling, stranger] = [idOf(1), idOf(2), idOf(3)];

test('a child decides calls of its root and of its siblings, and of no other session', async () => {
  const own = { owner: deploymentOwner, tree: { root } };
  const sessions: Readonly<Record<string, object>> = {
    [sessionId]: { ...own, id: sessionId },
    [root]: { owner: deploymentOwner, id: root, hasChildren: true },
    [sibling]: { ...own, id: sibling },
    [stranger]: { owner: deploymentOwner, id: stranger, hasChildren: true },
  };
  const more = {
    turns: {
      getWithTurn: async (id: string) => ({ session: sessions[id], turn: { state: { kind: 'idle' } } }),
    },
    auditLog: { append: async () => undefined },
  };
  const approval = { action: 'tool:approval', callId: 'c', approved: true, digest: 'd'.repeat(64) };
  const refusalOf = async (named: string) => {
    const [frame] = await framesAfter('allowed', JSON.stringify({ ...approval, sessionId: named }), more);
    return frame?.data.error?.code;
  };
  expect(await refusalOf(stranger)).toBe('session_not_found');
  expect(await refusalOf(root)).toBe('no_pending_tool_call');
  expect(await refusalOf(sibling)).toBe('no_pending_tool_call');
});

test('a client that reads too slowly to get its answer is closed, so that it asks again', async () => {
  const closed: string[] = [];
  const sockets = { post: async () => 'slow', close: async (id: string) => void closed.push(id) };
  await framesAfter('allowed', ping, { sockets });
  expect(closed).toEqual(['c']);
});
