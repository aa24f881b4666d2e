import { afterEach, beforeEach, expect, test, vi } from 'vitest';
// Before a page is there, which it would draw on.
import 'vue';

/** Requests and frames that the server got, each request with its token. */
const asked: string[] = [];
const sockets: {
  isOpen: boolean;
  readonly tell: (frame: object) => void;
  readonly greet: (id: string, lastSeq?: number) => void;
  readonly drop: () => void;
}[] = [];
/** Answers of one test, by the end of the route. */
const answers: Record<string, () => Response> = {};
const bodies: unknown[] = [];

class FakeSocket {
  readyState = 1;
  readonly #listeners: Record<string, (event: object) => void> = {};
  constructor() {
    const entry = {
      isOpen: true,
      tell: (frame: object) =>
        this.#listeners['message']?.({ data: JSON.stringify({ seq: null, at: '', ...frame }) }),
      greet: (sessionId: string, lastSeq = -1) => {
        const data = { sessionId, provider: 'demo', model: 'demo', status: 'idle', lastSeq };
        entry.tell({ type: 'system:ready', sessionId, data });
      },
      drop: () => this.#listeners['close']?.({}),
    };
    this.close = () => {
      entry.isOpen = false;
    };
    sockets.push(entry);
  }
  close: () => void;
  addEventListener(type: string, listener: (event: object) => void): void {
    this.#listeners[type] = listener;
  }
  send = (text: string): void => void asked.push(`socket ${text}`);
}

const answerOf = (route: string): object => {
  if (route.endsWith('/access')) return { scope: 'admin', may: ['own:read', 'own:write'] };
  return route.endsWith('/auth') ? { login: false, signedIn: false } : { ticket: 't' };
};

beforeEach(() => {
  vi.stubGlobal('location', { origin: 'http://x.example', hash: '', pathname: '/', search: '' });
  vi.stubGlobal('document', { addEventListener: () => undefined, visibilityState: 'visible' });
  vi.stubGlobal('addEventListener', () => undefined);
  vi.stubGlobal('requestAnimationFrame', (draw: () => void) => draw());
  vi.stubGlobal('WebSocket', FakeSocket);
  vi.stubGlobal('fetch', async (url: string, { method, headers, body }: RequestInit) => {
    const { authorization = 'cookie' } = headers as Record<string, string>;
    asked.push(`${authorization} ${method} ${url.replace('http://x.example', '')}`);
    if (body !== undefined) bodies.push(JSON.parse(String(body)));
    if (url.endsWith('/logout')) return new Response(null, { status: 204 });
    const route = `${method} ${url.slice(url.lastIndexOf('/'))}`;
    if (answers[route] !== undefined) return answers[route]();
    return Response.json(answerOf(url));
  });
  asked.length = 0;
  sockets.length = 0;
  bodies.length = 0;
  for (const route of Object.keys(answers)) delete answers[route];
});
afterEach(() => void vi.unstubAllGlobals());

/** Loaded when the page is there, which these modules look at. */
const load = async () => ({
  ...(await import('../access/access.ts')),
  ...(await import('../access/leave.ts')),
  ...(await import('./live-session.ts')),
});

const until = (isTrue: () => boolean): Promise<void> =>
  vi.waitFor(() => expect(isTrue()).toBe(true), { timeout: 50_000 });

test('a tab that changes its token leaves the connection of the old one', async () => {
  const { startAccess, signInWith, signOut, signIn, takeLink, settleOffer, openSession } = await load();
  startAccess();
  await signInWith('sp_old');
  openSession('s1');
  await until(() => sockets.length === 1);
  sockets[0]?.greet('s1');
  takeLink('sp_new');
  settleOffer(true);
  await until(() => signIn.value.kind === 'signed-in');
  expect(sockets[0]?.isOpen).toBe(false);
  openSession('s1');
  await until(() => sockets.length === 2);
  expect(asked.filter((line) => line.endsWith('/tickets'))).toEqual([
    'Bearer sp_old POST /api/tickets',
    'Bearer sp_new POST /api/tickets',
  ]);
  signOut();
});

test('a sign-out ends the sign-in of a cookie at the server', async () => {
  const { startAccess, signInWith, leave, signIn } = await load();
  startAccess();
  await signInWith(null);
  await leave();
  expect(asked).toContain('cookie POST /api/auth/logout');
  expect(signIn.value.kind).toBe('signed-out');
  await signInWith('sp_x');
  asked.length = 0;
  await leave();
  expect(asked).toEqual([]);
});

test('a turn is stopped by a request while there is no connection', async () => {
  const { startAccess, signInWith, openSession, cancelTurn, stopSession, signOut } = await load();
  startAccess();
  await signInWith('sp_x');
  openSession('s1');
  await cancelTurn();
  await stopSession();
  await until(() => sockets.length === 1);
  sockets[0]?.greet('s1');
  await cancelTurn();
  expect(asked.filter((line) => /cancel|DELETE/.test(line))).toEqual([
    'Bearer sp_x POST /api/sessions/s1/cancel',
    'Bearer sp_x DELETE /api/sessions/s1',
    'socket {"action":"turn:cancel"}',
  ]);
  signOut();
});

let tokens = 0;
/** A page with a session and its connection. Its token is its own: the end of a token arrives in other tabs a moment later. */
const opened = async () => {
  const page = await load();
  page.startAccess();
  tokens += 1;
  await page.signInWith(`sp_${tokens}`);
  page.openSession('s1');
  await until(() => sockets.length === 1);
  return page;
};

/** Storage of a tab, empty at first. */
const stubStorage = (): void => {
  const stored = new Map<string, string>();
  vi.stubGlobal('sessionStorage', {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
    removeItem: (key: string) => void stored.delete(key),
  });
};

test.each(['the connection', 'a reload'])(
  'a message that waits for %s keeps the choices of the time when it was written',
  async (what) => {
    stubStorage();
    const { ask, chooseForNext, closeSession, openSession, signOut } = await opened();
    chooseForNext({ model: 'one', thinking: 'high' });
    ask('hello');
    chooseForNext({ model: 'other' });
    if (what === 'a reload') {
      closeSession();
      openSession('s1');
      await until(() => sockets.length === 2);
    }
    sockets.at(-1)?.greet('s1');
    await until(() => bodies.length === 1);
    expect(bodies).toMatchObject([{ text: 'hello', model: 'one', thinking: 'high' }]);
    chooseForNext({});
    signOut();
  },
);

const refuses = (messageId: string) => ({
  ...{ type: 'error', sessionId: 's1' },
  data: {
    error: { code: 'resource_limit_exceeded', message: 'wait a minute', suggestions: ['Wait.'] },
    messageId,
  },
});

test('a refused message is kept over a reload with its reason, is not sent by itself, and is sent on request', async () => {
  stubStorage();
  const { ask, closeSession, liveState, openSession, resend, signOut, withdraw } = await opened();
  const { rememberedUnsent } = await import('../access/remembered.ts');
  const shown = () => liveState.value.items;
  sockets[0]?.greet('s1');
  ask('too much', ['attachments/a.txt']);
  await until(() => shown().length === 1);
  const id = String(shown()[0]?.id);
  sockets[0]?.tell(refuses(id));
  closeSession();
  openSession('s1');
  await until(() => sockets.length === 2);
  sockets[1]?.greet('s1');
  const refused = {
    ...{ id, text: 'too much', attachments: [{ path: 'attachments/a.txt' }], delivery: 'refused' },
    refusal: { code: 'resource_limit_exceeded', message: 'wait a minute', suggestions: ['Wait.'] },
  };
  await until(() => shown().length === 1);
  expect(shown()).toMatchObject([refused]);
  const frames = () => asked.filter((line) => line.startsWith('socket') && line.includes('too much'));
  expect([frames().length, bodies.length]).toEqual([1, 0]);
  resend(id);
  await until(() => shown().some((item) => item.kind === 'question' && item.delivery === 'sending'));
  expect(shown()).toMatchObject([{ id, delivery: 'sending', attachments: [{ path: 'attachments/a.txt' }] }]);
  expect(frames()).toHaveLength(2);
  sockets[1]?.tell(refuses(id));
  await until(() => rememberedUnsent('s1')[0]?.refusal !== undefined);
  withdraw(id);
  expect(rememberedUnsent('s1')).toEqual([]);
  signOut();
});

test('a message that waited for longer than the server knows its id is not sent by itself, and not lost', async () => {
  stubStorage();
  const { rememberUnsent } = await import('../access/remembered.ts');
  rememberUnsent('s1', [{ id: 'm1', text: 'of last week' }]);
  const day = 86_400_000;
  const now = Date.now();
  vi.spyOn(Date, 'now').mockImplementation(() => now + day);
  const { liveState, signOut } = await opened();
  sockets[0]?.greet('s1');
  await until(() => liveState.value.items.length === 1);
  expect(liveState.value.items).toMatchObject([{ text: 'of last week', delivery: 'refused' }]);
  expect(asked.filter((line) => line.includes('of last week'))).toEqual([]);
  expect(bodies).toEqual([]);
  vi.restoreAllMocks();
  signOut();
});

test('where no WebSocket opens, the log is read and messages are sent by requests, until one is tried again', async () => {
  const { ask, liveState, signOut, tryNow } = await opened();
  const said = (index: number, messageId: string, text: string) => ({
    ...{ index, type: 'message', at: 'T', sessionId: 's1', data: { messageId, role: 'user', text } },
  });
  const logged = [said(0, 'm0', 'from before')];
  vi.stubGlobal('navigator', { onLine: true });
  answers['GET /s1'] = () => Response.json({ provider: 'demo', model: 'demo', status: 'idle' });
  for (const since of [-1, 0, 1])
    answers[`GET /events?since_index=${since}&max_events=500`] = () =>
      Response.json({
        events: logged.filter(({ index }) => index > since),
        hasMore: false,
        droppedEvents: 0,
      });
  answers['POST /messages'] = () => {
    const { messageId, text } = bodies.at(-1) as { messageId: string; text: string };
    if (text === 'too much') {
      const error = { code: 'resource_limit_exceeded', message: 'spent', requestId: 'r' };
      return Response.json({ error }, { status: 409 });
    }
    logged.push(said(1, messageId, text));
    return Response.json({ accepted: true });
  };
  for (const tries of [1, 2, 3]) {
    await until(() => sockets.length === tries);
    sockets[tries - 1]?.drop();
  }
  const shown = () => liveState.value.items.flatMap((item) => (item.kind === 'question' ? item : []));
  await until(() => liveState.value.link.kind === 'polled' && shown().length === 1);
  ask('by a request');
  await until(() => shown()[1]?.delivery === 'accepted');
  ask('too much');
  await until(() => shown()[2]?.refusal?.message === 'spent');
  expect(shown().map(({ text }) => text)).toEqual(['from before', 'by a request', 'too much']);
  expect(sockets).toHaveLength(3);
  tryNow();
  await until(() => sockets.length === 4);
  sockets[3]?.greet('s1', 1);
  await until(() => liveState.value.link.kind === 'connected');
  signOut();
});

const childAsks = (digest: string) => ({
  ...{ type: 'tool:approval_required', sessionId: 'child' },
  data: { callId: 'c1', name: 'x', args: {}, digest, turnId: 't', queuePosition: 1, totalInQueue: 1 },
});

test('a message that is written before the earlier ones are shown again is kept with them', async () => {
  stubStorage();
  const { ask, closeSession, openSession, signOut } = await opened();
  const { rememberedUnsent } = await import('../access/remembered.ts');
  const kept = () => rememberedUnsent('s1').map(({ text }) => text);
  ask('one');
  closeSession();
  openSession('s1');
  ask('two');
  expect(kept()).toEqual(['one', 'two']);
  closeSession();
  expect(kept()).toEqual(['one', 'two']);
  openSession('s1');
  await until(() => sockets.length >= 2);
  sockets.at(-1)?.greet('s1');
  await until(() => bodies.length === 2);
  expect(bodies).toMatchObject([{ text: 'one' }, { text: 'two' }]);
  signOut();
});

test('a call of a child that was decided without a connection is gone after it, and one that waits stays', async () => {
  const { waitingCalls, signOut } = await opened();
  sockets[0]?.greet('s1');
  sockets[0]?.tell(childAsks('d1'));
  sockets[0]?.tell({ ...childAsks('d2'), sessionId: 'other' });
  await until(() => waitingCalls.value === 2);
  answers['GET /child'] = () => Response.json({ pendingApprovals: [{ callId: 'c1', digest: 'd0' }] });
  answers['GET /other'] = () => Response.json({ pendingApprovals: [{ callId: 'c1', digest: 'd2' }] });
  sockets[0]?.drop();
  await until(() => sockets.length === 2);
  sockets[1]?.greet('s1');
  await until(() => waitingCalls.value === 1);
  signOut();
});

test('a call of a child that is asked anew while its session is looked at stays', async () => {
  const { waitingCalls, waitingCallItems, signOut } = await opened();
  sockets[0]?.greet('s1');
  sockets[0]?.tell(childAsks('d1'));
  sockets[0]?.tell({ ...childAsks('d2'), sessionId: 'other' });
  await until(() => waitingCalls.value === 2);
  answers['GET /child'] = () => {
    sockets[1]?.tell(childAsks('d3'));
    return Response.json({ pendingApprovals: [] });
  };
  answers['GET /other'] = () => Response.json({ pendingApprovals: [] });
  sockets[0]?.drop();
  await until(() => sockets.length === 2);
  sockets[1]?.greet('s1');
  await until(() => waitingCalls.value < 2);
  expect(waitingCallItems.value).toMatchObject([{ childSession: 'child', request: { digest: 'd3' } }]);
  signOut();
});

test('what was asked for in one session changes no call of another with the same number', async () => {
  const { liveState, openSession, replaceArgs, replaceOutput, signOut } = await opened();
  const call = (sessionId: string) => ({
    ...{ type: 'tool:call', sessionId, seq: 0 },
    data: { callId: 'c', name: 'x', args: { of: sessionId }, truncated: true },
  });
  const firstCall = () => liveState.value.items.find((item) => item.kind === 'call');
  sockets[0]?.greet('s1');
  sockets[0]?.tell(call('s1'));
  await until(() => firstCall() !== undefined);
  const before = firstCall();
  if (before === undefined) throw new Error('no call');
  openSession('s2');
  await until(() => sockets.length === 2);
  sockets[1]?.greet('s2');
  sockets[1]?.tell(call('s2'));
  await until(() => firstCall()?.args['of'] === 's2');
  replaceArgs({ sessionId: 's1', call: before }, { of: 'late' });
  replaceOutput({ sessionId: 's1', call: before }, [{ type: 'text', text: 'late' }]);
  replaceArgs({ sessionId: 's2', call: before }, { of: 's2, whole' });
  await until(() => firstCall()?.args['of'] === 's2, whole');
  expect(firstCall()).toMatchObject({ content: null });
  signOut();
});

test('a text that no header can carry is no token: nothing is asked with it', async () => {
  const { startAccess, signInWith, signIn } = await load();
  startAccess();
  asked.length = 0;
  await signInWith('sp_\u2026');
  expect(signIn.value).toEqual({ kind: 'signed-out', reason: expect.stringContaining('not a token') });
  expect(asked.filter((line) => line.startsWith('Bearer'))).toEqual([]);
});

test('a prompt stays over a replay, which asks nothing new before its end', async () => {
  const live = await load();
  live.startAccess();
  await live.signInWith('sp_y');
  live.openSession('s1');
  await until(() => sockets.length === 1);
  const [socket] = sockets;
  const shownCalls = () => [
    live.isReplaying.value,
    ...live.waitingCallItems.value.map(({ callId }) => callId),
  ];
  const asks = (seq: number, callId: string) => ({
    ...{ type: 'tool:approval_required', sessionId: 's1', seq, at: '' },
    data: {
      ...{ callId, name: 'execute_command', args: { command: 'ls' }, turnId: 't', digest: 'd', askedAt: '' },
      ...{ queuePosition: 1, totalInQueue: 1 },
    },
  });
  const told = (seq: number, type: string, data: object) => ({ type, sessionId: 's1', seq, at: '', data });
  socket?.greet('s1');
  socket?.tell(asks(0, 'one'));
  await until(() => live.waitingCalls.value === 1);
  socket?.greet('s1', 1);
  await until(() => live.isReplaying.value);
  expect(shownCalls()).toEqual([true, 'one']);
  socket?.tell(told(1, 'system', { kind: 'sandbox_stopped', reason: 'waiting' }));
  await until(() => !live.isReplaying.value);
  expect(shownCalls()).toEqual([false, 'one']);

  socket?.greet('s1', 5);
  await until(() => live.isReplaying.value);
  socket?.tell(
    told(2, 'tool:decided', { callId: 'one', approved: false, digest: 'd', by: { kind: 'token' } }),
  );
  socket?.tell(told(3, 'tool:rejected', { callId: 'one' }));
  socket?.tell(asks(4, 'two'));
  await until(() => live.waitingCalls.value === 0);
  expect(shownCalls()).toEqual([true]);
  socket?.tell(told(5, 'system', { kind: 'sandbox_stopped', reason: 'waiting' }));
  await until(() => !live.isReplaying.value);
  expect(shownCalls()).toEqual([false, 'two']);
  live.signOut();
});

test('a message of a session whose connection is refused is shown, can be taken back, and goes out once the connection stands', async () => {
  stubStorage();
  const { rememberUnsent, rememberedUnsent } = await import('../access/remembered.ts');
  for (const id of ['m1', 'm2'])
    rememberUnsent('s1', [...rememberedUnsent('s1'), { id, text: `text ${id}` }]);
  const { liveState, signOut, tryNow, withdraw } = await opened();
  const error = { code: 'provider_not_configured', message: 'no key', suggestions: ['Set it.'] };
  sockets[0]?.tell({ type: 'error', data: { error } });
  await until(() => liveState.value.link.kind === 'stopped');
  expect(liveState.value.link).toMatchObject({ suggestions: ['Set it.'] });
  expect(liveState.value.items).toMatchObject([{ id: 'm1', delivery: 'sending' }, { id: 'm2' }]);
  withdraw('m1');
  expect(rememberedUnsent('s1')).toMatchObject([{ id: 'm2' }]);
  tryNow();
  await until(() => sockets.length === 2);
  expect(liveState.value.items).toMatchObject([{ id: 'm2' }]);
  sockets[1]?.greet('s1');
  await until(() => bodies.length > 0);
  expect(bodies).toMatchObject([{ messageId: 'm2', text: 'text m2' }]);
  signOut();
});
