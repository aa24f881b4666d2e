import { afterEach, beforeEach, expect, test, vi } from 'vitest';
// Before a page is there, which it would draw on.
import 'vue';

/** Requests and frames that the server got, each request with its token. */
const asked: string[] = [];
const sockets: { isOpen: boolean; readonly greet: (id: string) => void }[] = [];

class FakeSocket {
  readyState = 1;
  readonly #listeners: Record<string, (event: object) => void> = {};
  constructor() {
    const entry = {
      isOpen: true,
      greet: (sessionId: string) => {
        const data = { sessionId, provider: 'demo', model: 'demo', status: 'idle', lastSeq: -1 };
        const frame = { type: 'system:ready', sessionId, seq: null, at: '', data };
        this.#listeners['message']?.({ data: JSON.stringify(frame) });
      },
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
  vi.stubGlobal('fetch', async (url: string, { method, headers }: RequestInit) => {
    const { authorization = 'cookie' } = headers as Record<string, string>;
    asked.push(`${authorization} ${method} ${url.replace('http://x.example', '')}`);
    if (url.endsWith('/logout')) return new Response(null, { status: 204 });
    return Response.json(answerOf(url));
  });
  asked.length = 0;
  sockets.length = 0;
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

test('a text that no header can carry is no token: nothing is asked with it', async () => {
  const { startAccess, signInWith, signIn } = await load();
  startAccess();
  asked.length = 0;
  await signInWith('sp_\u2026');
  expect(signIn.value).toEqual({ kind: 'signed-out', reason: expect.stringContaining('not a token') });
  expect(asked.filter((line) => line.startsWith('Bearer'))).toEqual([]);
});
