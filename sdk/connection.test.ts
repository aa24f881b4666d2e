import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ApiClient, type SocketLike } from './api-client.ts';
import type { ConnectionState } from './connection.ts';
import type { Frame } from './frames.ts';
import { connectToSession } from './session-connection.ts';

type Listeners = { readonly [type: string]: ((event: { readonly data: string }) => void) | undefined };

/** A server of one session: sockets that it can speak over and drop, and answers to requests. */
const openServer = (answers: Readonly<Record<string, () => Response | Promise<Response>>> = {}) => {
  const sockets: {
    url: string;
    sent: unknown[];
    tell: (frame: object) => void;
    fail: () => void;
    drop: () => void;
  }[] = [];
  const requests: string[] = [];
  const bodies: unknown[] = [];
  class FakeSocket implements SocketLike {
    readonly readyState = 1;
    readonly #listeners: Record<string, Listeners[string]> = {};
    readonly #sent: unknown[] = [];
    constructor(url: string, protocols: string[]) {
      sockets.push({
        url: `${url} ${protocols.join(' ')}`,
        sent: this.#sent,
        tell: (frame) => this.#emit('message', { sessionId: 's', seq: null, at: '', data: {}, ...frame }),
        fail: () =>
          this.#emit('message', { message: 'Internal server error', connectionId: 'c', requestId: 'r' }),
        drop: () => this.#emit('close', {}),
      });
    }
    addEventListener(type: string, listener: (event: { readonly data: string }) => void): void {
      this.#listeners[type] = listener;
    }
    send = (text: string): void => void this.#sent.push(JSON.parse(text));
    close = (): void => undefined;
    #emit(type: string, data: object): void {
      this.#listeners[type]?.({ data: JSON.stringify(data) });
    }
  }
  const sallyport = new ApiClient({
    url: 'http://x.example',
    WebSocket: FakeSocket,
    triesMax: 1,
    fetch: async (url, { method, body } = {}) => {
      const route = `${method} ${String(url).replace('http://x.example/api', '')}`;
      requests.push(route);
      if (route.endsWith('/messages')) bodies.push(JSON.parse(String(body)));
      return answers[route]?.() ?? Response.json({ ticket: 't1' });
    },
  });
  return { sallyport, sockets, requests, bodies };
};

type Following = { readonly since?: number; readonly isWhole?: boolean };

const connect = ({ sallyport }: ReturnType<typeof openServer>, options: Following = {}) => {
  const seen: unknown[] = [];
  const frames: Frame[] = [];
  const states: ConnectionState[] = [];
  const connection = connectToSession(sallyport, {
    sessionId: 's',
    ...options,
    onFrame: (frame) => {
      frames.push(frame);
      seen.push(frame.seq ?? frame.type);
    },
    onState: (state) => void states.push(state),
  });
  return { connection, seen, frames, states };
};

const ready = (lastSeq: number) => ({ type: 'system:ready', data: { lastSeq } });
const event = (seq: number) => ({ type: 'system', seq });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a ticket opens the socket, and a lost one is resumed after the last event', async () => {
  const server = openServer();
  const { seen, states } = connect(server, { since: -1 });
  await vi.advanceTimersByTimeAsync(0);
  expect(server.sockets[0]?.url).toBe('ws://x.example/ws?sessionId=s&since=-1 sallyport.v1 ticket.t1');
  for (const frame of [ready(1), event(1), event(0)]) server.sockets[0]?.tell(frame);
  server.sockets[0]?.drop();
  server.sockets[0]?.tell(event(2));
  await vi.advanceTimersByTimeAsync(1000);
  expect(server.sockets[1]?.url).toContain('since=1 ');
  server.sockets[1]?.tell(ready(1));
  expect(seen).toEqual(['system:ready', 0, 1, 'system:ready']);
  expect(states.map(({ kind }) => kind)).toEqual(['connecting', 'connected', 'lost', 'connected']);
});

test('without a number only new events are delivered', async () => {
  const server = openServer();
  const { seen } = connect(server);
  await vi.advanceTimersByTimeAsync(0);
  expect(server.sockets[0]?.url).not.toContain('since');
  for (const frame of [ready(4), event(3), event(5)]) server.sockets[0]?.tell(frame);
  expect(seen).toEqual(['system:ready', 5]);
});

test('an event that is too long for a frame is fetched whole, and those behind it wait', async () => {
  const events = [
    { index: 5, type: 'completion', data: { text: 'Hello' } },
    { index: 6, type: 'system', data: {} },
  ];
  const log = 'GET /sessions/s/events?since_index=4&max_events=500';
  const server = openServer({ [log]: () => Response.json({ events }) });
  const [whole, cut] = [connect(server, { isWhole: true }), connect(server)];
  await vi.advanceTimersByTimeAsync(0);
  const long = { type: 'completion', seq: 5, data: { text: 'Hel', truncated: true } };
  for (const { tell } of server.sockets) for (const frame of [ready(4), long, event(6)]) tell(frame);
  expect([whole.seen, cut.seen]).toEqual([['system:ready'], ['system:ready', 5, 6]]);
  await vi.advanceTimersByTimeAsync(1);
  expect(whole.seen).toEqual(['system:ready', 5, 6]);
  expect(whole.frames[1]).toMatchObject({ type: 'completion', data: { text: 'Hello' } });
  expect(server.requests.filter((one) => one === log)).toHaveLength(1);
});

test('before the greeting a frame that was cut is no event that is followed', async () => {
  const server = openServer();
  const { seen } = connect(server, { isWhole: true });
  await vi.advanceTimersByTimeAsync(0);
  const early = { type: 'completion', seq: 3, data: { text: '', truncated: true } };
  for (const frame of [early, ready(4), event(5)]) server.sockets[0]?.tell(frame);
  await vi.advanceTimersByTimeAsync(1000);
  expect(seen).toEqual(['system:ready', 5]);
});

test('a message is sent over the socket, a long one over REST, and its refusal becomes a frame', async () => {
  const body = { error: { code: 'payload_too_large', message: 'too long' } };
  const server = openServer({ 'POST /sessions/s/messages': () => Response.json(body, { status: 413 }) });
  const { connection, seen } = connect(server);
  const message = { action: 'message', text: 'hello' } as const;
  expect(connection.send(message)).toBe(false);
  await vi.advanceTimersByTimeAsync(0);
  server.sockets[0]?.tell(ready(-1));
  expect(connection.send(message)).toBe(true);
  expect(connection.send({ ...message, text: 'é'.repeat(16_000) })).toBe(true);
  await vi.advanceTimersByTimeAsync(0);
  expect(server.sockets[0]?.sent).toEqual([message]);
  expect(server.requests.at(-1)).toBe('POST /sessions/s/messages');
  expect(seen).toEqual(['system:ready', 'error']);
});

test('messages in order: each is sent when the one before was accepted, and those that come meanwhile follow', async () => {
  const answers: ((status: number) => void)[] = [];
  const server = openServer({
    'POST /sessions/s/messages': () =>
      new Promise<Response>((resolve) =>
        answers.push((status) =>
          resolve(Response.json({ error: { code: 'no', message: 'no' } }, { status })),
        ),
      ),
  });
  const { connection, frames } = connect(server);
  await vi.advanceTimersByTimeAsync(0);
  server.sockets[0]?.tell(ready(-1));
  const message = (messageId: string) => ({ action: 'message', text: 'hello', messageId }) as const;
  connection.sendInOrder([message('one'), message('two'), message('three')]);
  connection.send(message('four'));
  const sent = (): unknown[] => server.bodies.map((body) => (body as { messageId: string }).messageId);
  const accept = async (status: number): Promise<void> => {
    answers.shift()?.(status);
    await vi.advanceTimersByTimeAsync(0);
  };
  await vi.advanceTimersByTimeAsync(0);
  expect(sent()).toEqual(['one']);
  await accept(202);
  expect(sent()).toEqual(['one', 'two']);
  await accept(409);
  expect(sent()).toEqual(['one', 'two', 'three']);
  await accept(202);
  await accept(202);
  expect(sent()).toEqual(['one', 'two', 'three', 'four']);
  expect(server.sockets[0]?.sent).toEqual([]);
  expect(frames.at(-1)).toMatchObject({ type: 'error', data: { messageId: 'two' } });
  connection.send(message('five'));
  expect(server.sockets[0]?.sent).toEqual([message('five')]);
});

test('a message in order without an answer goes over the socket, and so do those behind it', async () => {
  const server = openServer({
    'POST /sessions/s/messages': () => {
      throw new TypeError('fetch failed');
    },
  });
  const { connection } = connect(server);
  await vi.advanceTimersByTimeAsync(0);
  server.sockets[0]?.tell(ready(-1));
  const message = (messageId: string) => ({ action: 'message', text: 'hello', messageId }) as const;
  connection.sendInOrder([message('one'), message('two')]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(server.sockets[0]?.sent.slice(0, 2)).toEqual([message('one'), message('two')]);
});

test.each([400, 401, 403, 404])('a refusal with %d ends it', async (status) => {
  const body = { error: { code: 'session_not_found', message: 'no' } };
  const server = openServer({ 'GET /sessions/s': () => Response.json(body, { status }) });
  const { states } = connect(server);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(server.sockets).toEqual([]);
  expect(states.at(-1)).toMatchObject({ kind: 'ended', error: { status, code: 'session_not_found' } });
});

test('a refusal on the socket ends it, too', async () => {
  const server = openServer();
  const { states } = connect(server);
  await vi.advanceTimersByTimeAsync(0);
  server.sockets[0]?.tell({
    type: 'error',
    data: { error: { code: 'provider_not_configured', message: 'no' } },
  });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(server.sockets).toHaveLength(1);
  expect(states.at(-1)).toMatchObject({ kind: 'ended', error: { code: 'provider_not_configured' } });
});

test('a frame whose function failed is told as an error, by the words of the gateway', async () => {
  const server = openServer();
  const { connection, frames, states } = connect(server);
  await vi.advanceTimersByTimeAsync(0);
  server.sockets[0]?.tell(ready(-1));
  connection.send({ action: 'turn:cancel' });
  server.sockets[0]?.fail();
  expect(frames.at(-1)).toMatchObject({
    ...{ type: 'error', seq: null, sessionId: null },
    data: { error: { code: 'internal_error', requestId: 'r' } },
  });
  expect(states.at(-1)?.kind).toBe('connected');
});

test('before the greeting it is a lost connection, which is tried again', async () => {
  const server = openServer();
  const { frames, states } = connect(server);
  await vi.advanceTimersByTimeAsync(0);
  server.sockets[0]?.fail();
  expect([states.at(-1)?.kind, frames]).toEqual(['lost', []]);
});

test('an unreachable server is retried with growing pauses, and at once on request', async () => {
  const server = openServer({ 'POST /tickets': () => Response.error() });
  const { connection, states } = connect(server);
  await vi.advanceTimersByTimeAsync(10_000);
  const tries = () => states.filter(({ kind }) => kind === 'lost').length;
  expect(tries()).toBeGreaterThan(2);
  const before = tries();
  connection.tryNow();
  await vi.advanceTimersByTimeAsync(0);
  expect(tries()).toBe(before + 1);
  connection.close();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(tries()).toBe(before + 1);
});

test('a server that is back and busy is asked again after the pause that it names', async () => {
  let isBack = false;
  const body = { error: { code: 'rate_limited', message: 'too many requests' } };
  const busy = () => Response.json(body, { status: 429, headers: { 'retry-after': '2' } });
  const server = openServer({ 'POST /tickets': () => (isBack ? busy() : Response.error()) });
  const { connection, states } = connect(server);
  await vi.advanceTimersByTimeAsync(40_000);
  expect(states.at(-1)).toMatchObject({ kind: 'lost', isBusy: false });
  isBack = true;
  const waits: number[] = [];
  for (let tries = 0; tries < 3; tries += 1) {
    const before = states.length;
    for (; states.length === before; ) await vi.advanceTimersByTimeAsync(10);
    const state = states.at(-1);
    if (state?.kind !== 'lost') throw new Error('not lost');
    expect(state.isBusy).toBe(true);
    waits.push(Math.round((state.nextAt - Date.now()) / 10) / 100);
  }
  for (const wait of waits) {
    expect(wait).toBeGreaterThanOrEqual(2 + 0.3 * 0.8 - 0.02);
    expect(wait).toBeLessThanOrEqual(2 + 0.3 * 1.2);
  }
  isBack = false;
  await vi.advanceTimersByTimeAsync(5000);
  expect(states.at(-1)).toMatchObject({ kind: 'lost', isBusy: false });
  connection.close();
});

test('a socket that answers no ping is closed', async () => {
  const server = openServer();
  const { states } = connect(server);
  await vi.advanceTimersByTimeAsync(0);
  server.sockets[0]?.tell(ready(-1));
  await vi.advanceTimersByTimeAsync(4 * 60_000);
  expect(server.sockets[0]?.sent).toEqual([{ action: 'ping' }]);
  server.sockets[0]?.tell({ type: 'pong' });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(states.at(-1)?.kind).toBe('connected');
  await vi.advanceTimersByTimeAsync(4 * 60_000);
  expect(states.map(({ kind }) => kind)).toContain('lost');
});

test('a socket that opens and is not greeted is left, and another one is tried', async () => {
  const server = openServer();
  const { states, seen } = connect(server);
  await vi.advanceTimersByTimeAsync(29_000);
  expect(states.map(({ kind }) => kind)).toEqual(['connecting']);
  await vi.advanceTimersByTimeAsync(3000);
  expect(states.at(-1)).toMatchObject({ kind: 'lost', isBlocked: true });
  server.sockets[0]?.tell(ready(0));
  server.sockets[1]?.tell(ready(0));
  await vi.advanceTimersByTimeAsync(120_000);
  expect([states.at(-1)?.kind, server.sockets.length, seen]).toEqual(['connected', 2, ['system:ready']]);
});

test('a message that fits no frame is sent again while the socket stands, and what follows waits', async () => {
  let failures = 2;
  const server = openServer({
    'POST /sessions/s/messages': () => {
      failures -= 1;
      if (failures >= 0) throw new TypeError('fetch failed');
      return Response.json({ messageId: 'long', lastSeq: 0 }, { status: 202 });
    },
  });
  const { connection, seen } = connect(server);
  await vi.advanceTimersByTimeAsync(0);
  server.sockets[0]?.tell(ready(-1));
  const long = { action: 'message', text: 'x'.repeat(32_000), messageId: 'long' } as const;
  expect(connection.send(long)).toBe(true);
  connection.send({ action: 'message', text: 'hello', messageId: 'next' });
  await vi.advanceTimersByTimeAsync(10_000);
  const sent = server.bodies.map((body) => (body as { messageId: string }).messageId);
  expect([sent, server.sockets[0]?.sent, seen]).toEqual([
    ['long', 'long', 'long', 'next'],
    [],
    ['system:ready'],
  ]);
});

test('a message without an id is not sent twice: that its answer was lost is told', async () => {
  const server = openServer({
    'POST /sessions/s/messages': () => {
      throw new TypeError('fetch failed');
    },
  });
  const { connection, frames } = connect(server);
  await vi.advanceTimersByTimeAsync(0);
  server.sockets[0]?.tell(ready(-1));
  connection.send({ action: 'message', text: 'x'.repeat(32_000) });
  await vi.advanceTimersByTimeAsync(60_000);
  expect([server.bodies.length, frames.at(-1)]).toMatchObject([
    1,
    { data: { error: { code: 'unreachable' } } },
  ]);
});

test('a closed connection tells of no refusal any more: what listens may show another session by then', async () => {
  const answered = Promise.withResolvers<Response>();
  const server = openServer({ 'POST /sessions/s/messages': () => answered.promise });
  const { connection, seen } = connect(server);
  await vi.advanceTimersByTimeAsync(0);
  server.sockets[0]?.tell(ready(-1));
  connection.send({ action: 'message', text: 'x'.repeat(32_000), messageId: 'long' });
  await vi.advanceTimersByTimeAsync(0);
  connection.close();
  answered.resolve(Response.json({ error: { code: 'payload_too_large', message: 'no' } }, { status: 413 }));
  await vi.advanceTimersByTimeAsync(60_000);
  expect([server.bodies.length, seen]).toEqual([1, ['system:ready']]);
});

describe('a message whose frame failed', () => {
  const message = (messageId: string) => ({ action: 'message', text: 'hello', messageId }) as const;
  const failure = (messageId?: string) => ({
    type: 'error',
    data: { error: { code: 'internal_error', message: 'the request failed' }, messageId },
  });
  const refusal = (status: number, code: string) => () =>
    Response.json({ error: { code, message: code } }, { status });
  const route = 'POST /sessions/s/messages';
  const opened = async (answer?: () => Response) => {
    const server = openServer(answer === undefined ? {} : { [route]: answer });
    const { connection, frames } = connect(server);
    await vi.advanceTimersByTimeAsync(0);
    server.sockets[0]?.tell(ready(-1));
    frames.length = 0;
    const sent = (): unknown[] => server.bodies.map((body) => (body as { messageId: string }).messageId);
    return { server, connection, frames, sent };
  };

  test('is sent again by a request, and the failure is not told', async () => {
    const { server, connection, frames, sent } = await opened();
    connection.send(message('one'));
    server.sockets[0]?.fail();
    await vi.advanceTimersByTimeAsync(1000);
    connection.send(message('two'));
    server.sockets[0]?.tell(failure('two'));
    await vi.advanceTimersByTimeAsync(1000);
    expect([sent(), frames]).toEqual([['one', 'two'], []]);
    // Both are known to be accepted, and nothing else was sent.
    server.sockets[0]?.fail();
    await vi.advanceTimersByTimeAsync(1000);
    expect([sent(), frames]).toEqual([['one', 'two'], []]);
  });

  test('is told with what the request is refused for', async () => {
    const { server, connection, frames } = await opened(refusal(409, 'invalid_session_state'));
    connection.send(message('one'));
    server.sockets[0]?.fail();
    await vi.advanceTimersByTimeAsync(1000);
    expect(frames).toMatchObject([
      { type: 'error', data: { messageId: 'one', error: { code: 'invalid_session_state' } } },
    ]);
  });

  test('is told when some requests have failed, too', async () => {
    const { server, connection, frames, sent } = await opened(refusal(500, 'internal_error'));
    connection.send(message('one'));
    server.sockets[0]?.tell(failure('one'));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(sent()).toHaveLength(4);
    expect(frames).toMatchObject([{ data: { messageId: 'one', error: { code: 'internal_error' } } }]);
  });

  test('is told in the end where no request reaches the server', async () => {
    const { server, connection, frames } = await opened(() => {
      throw new TypeError('fetch failed');
    });
    connection.send(message('one'));
    for (let tries = 0; tries < 5; tries += 1) {
      server.sockets[0]?.tell(failure('one'));
      await vi.advanceTimersByTimeAsync(1000);
    }
    expect(server.sockets[0]?.sent).toHaveLength(4);
    expect(frames.at(-1)).toMatchObject({ type: 'error', data: { messageId: 'one' } });
  });

  test('that the log has is not sent again', async () => {
    const { server, connection, sent } = await opened();
    connection.send(message('one'));
    server.sockets[0]?.tell({ type: 'message', seq: 0, data: { messageId: 'one', role: 'user', text: '' } });
    server.sockets[0]?.fail();
    await vi.advanceTimersByTimeAsync(1000);
    expect(sent()).toEqual([]);
  });

  test('beside another frame: that one may have failed instead, which is told', async () => {
    const { server, connection, frames, sent } = await opened();
    connection.send(message('one'));
    connection.send({ action: 'turn:cancel' });
    server.sockets[0]?.fail();
    await vi.advanceTimersByTimeAsync(1000);
    expect(sent()).toEqual(['one']);
    const suggestions = [expect.stringContaining('Messages are sent again.')];
    expect(frames).toMatchObject([
      { type: 'error', data: { error: { code: 'internal_error', suggestions } } },
    ]);
  });
});
