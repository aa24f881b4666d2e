/** Preview: a web server in a sandbox is shown to its owner, learns nothing of ours, and opens no other door. */
import { once } from 'node:events';
import { afterAll, beforeAll, expect, onTestFailed, test } from 'vitest';
import { WebSocket } from 'ws';
import { type Agent, endSession, makeSession, openAgent, sandboxRecord, showSession } from './agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import { killServer } from './sandbox-processes.ts';
import { challengeOf } from './server.ts';

/** Answers with what it was sent, or leads away, and tries to leave a cookie and to loosen the page's fence. */
const echo = `
import http.server, json
class Echo(http.server.BaseHTTPRequestHandler):
    def answer(self):
        body = self.rfile.read(int(self.headers.get('content-length', 0)))
        seen = {'method': self.command, 'path': self.path, 'body': body.decode('latin-1'),
                'headers': {name.lower(): value for name, value in self.headers.items()}}
        leads, _, away = self.path.partition('?')
        self.send_response(307 if leads == '/away' else 200)
        if leads == '/away':
            self.send_header('location', away)
        self.send_header('content-type', 'application/json')
        self.send_header('set-cookie', 'planted=1; Path=/')
        self.send_header('content-security-policy', "default-src *")
        self.send_header('access-control-allow-origin', '*')
        self.send_header('x-own', 'kept')
        self.end_headers()
        self.wfile.write(json.dumps(seen).encode())
    do_GET = do_POST = do_DELETE = answer
http.server.ThreadingHTTPServer(('127.0.0.1', 8001), Echo).serve_forever()
`;

type Echoed = {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
};

let cloud: EmbeddedCloud;
let agent: Agent;
beforeAll(async () => {
  cloud = await openEmbeddedCloud({ previewCheckMs: 200 });
  agent = await openAgent(cloud);
  const headers = { 'content-type': 'application/octet-stream' };
  const put = { method: 'PUT', body: echo, headers };
  expect((await cloud.request(`/api/sessions/${agent.id}/files/.echo.py`, put)).ok).toBe(true);
  await agent.run('$ mkdir site; echo "<h1>shown</h1>" > site/page.html');
  await agent.run('$ cd site; (python3 -m http.server 8000 >/dev/null 2>&1 &)');
  await agent.run('$ (python3 .echo.py >/dev/null 2>&1 &)');
  for (const port of [8000, 8001])
    await eventually(
      () => cloud.request(pathOf(port)),
      ({ status }) => status === 200,
    );
});
afterAll(() => cloud.stop());

const pathOf = (port: number, id = agent.id): string => `/api/sessions/${id}/ports/${port}/`;

const echoed = async (path: string, init: RequestInit = {}): Promise<Echoed> => {
  const response = await cloud.request(`${pathOf(8001)}${path}`, init);
  expect(response.status).toBe(200);
  return (await response.json()) as Echoed;
};

/** As a browser asks: without a bearer. */
const browse = (path: string, cookie?: string): Promise<Response> =>
  fetch(`${cloud.url}${path}`, {
    redirect: 'manual',
    ...(cookie === undefined ? {} : { headers: { cookie } }),
  });

const newTicket = async (): Promise<string> =>
  (await cloud.ask<{ ticket: string }>('/api/tickets', { method: 'POST' })).ticket;

test('a file server in the sandbox is shown, with its listing and its files', async () => {
  const listing = await cloud.request(pathOf(8000));
  expect(listing.status).toBe(200);
  expect(await listing.text()).toContain('<a href="page.html">');
  const page = await cloud.request(`${pathOf(8000)}page.html`);
  expect([await page.text(), page.headers.get('content-type')]).toEqual(['<h1>shown</h1>\n', 'text/html']);
  expect((await cloud.request(`${pathOf(8000)}missing`)).status).toBe(404);
});

test('a port without a slash redirects to the one with it', async () => {
  const path = pathOf(8000).slice(0, -1);
  const response = await cloud.request(path, { redirect: 'manual' });
  expect([response.status, response.headers.get('location')]).toEqual([302, `${path}/`]);
});

test('methods, paths, queries and bodies reach the server unchanged', async () => {
  const query = 'b&a=1&c=x+y%20%2f&a=2&&empty=';
  expect(await echoed(`deep/er?${query}`)).toMatchObject({ method: 'GET', path: `/deep/er?${query}` });
  expect((await echoed('deep/er?')).path).toBe('/deep/er?');
  const asEncoded = 'gr%C3%B6%C3%9Fe%20%2F%3F%23%25/%zz/..%2F/a;b=c,d';
  expect((await echoed(asEncoded)).path).toBe(`/${asEncoded}`);
  const bytes = Buffer.from([0, 1, 127, 128, 255]);
  const headers = { 'content-type': 'application/octet-stream', 'x-own': 'mine' };
  expect(await echoed('form', { method: 'POST', body: bytes, headers })).toMatchObject({
    method: 'POST',
    path: '/form',
    body: bytes.toString('latin1'),
    headers: { 'content-type': 'application/octet-stream', 'x-own': 'mine' },
  });
  expect(await echoed('thing', { method: 'DELETE' })).toMatchObject({ method: 'DELETE', path: '/thing' });
});

test('the server in the sandbox sees neither the bearer nor a cookie nor forwarding headers', async () => {
  const { headers } = await echoed('', { headers: { cookie: 'sallyport-preview=secret; other=1' } });
  expect(JSON.stringify(headers)).not.toMatch(/sallyport-preview|Bearer|sp_/);
  const ours = /^(authorization|cookie|x-forwarded-.*|x-amz.*|via)$/;
  expect(Object.keys(headers).filter((name) => ours.test(name))).toEqual([]);
  expect(headers['host']).toBe('127.0.0.1:8001');
});

test('the page is isolated: its own origin, no sniffing, no cookie, none of its own rules', async () => {
  const { headers } = await cloud.request(pathOf(8001));
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy.split(' ')[0]).toBe('sandbox');
  expect(policy).not.toContain('allow-same-origin');
  const own = `${cloud.url}${pathOf(8001)}`;
  expect(policy).toContain(`; default-src ${own} data: blob: 'unsafe-inline' 'unsafe-eval'; `);
  expect(policy).not.toContain('*');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(headers.get('access-control-allow-origin')).toBe('null');
  expect(headers.getSetCookie()).toEqual([]);
  expect(headers.get('x-own')).toBe('kept');
});

test('L14: a ticket is exchanged for a cookie that is valid for this port only', async () => {
  const other = await makeSession(cloud, { kind: 'execution', flavor: 'micro' });
  const ticket = await newTicket();
  const granted = await browse(`${pathOf(8001)}app?a=%20b&ticket=${ticket}&a=1`);
  expect([granted.status, granted.headers.get('location')]).toEqual([302, `${pathOf(8001)}app?a=%20b&a=1`]);
  const [given = '', ...more] = granted.headers.getSetCookie();
  expect(more).toEqual([]);
  const [cookie = '', ...attributes] = given.split('; ');
  expect(cookie).toMatch(/^sallyport-preview=[0-9a-f]{64}$/);
  expect(attributes).toEqual([`Path=${pathOf(8001)}`, 'Max-Age=3600', 'HttpOnly', 'SameSite=Lax']);

  const opened = await browse(`${pathOf(8001)}app?a=%20b&a=1`, cookie);
  expect(opened.status).toBe(200);
  const { path, headers } = (await opened.json()) as Echoed;
  expect([path, headers['cookie']]).toEqual(['/app?a=%20b&a=1', undefined]);

  const elsewhere = [
    pathOf(8000),
    pathOf(8001, other.id),
    '/api/sessions',
    `/api/sessions/${agent.id}`,
    `/api/sessions/${agent.id}/files`,
    `/api/sessions/${agent.id}/ports`,
  ];
  const answers = await Promise.all(elsewhere.map((place) => browse(place, cookie)));
  expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 401]);
  expect((await browse(`${pathOf(8001)}?ticket=${ticket}`)).status).toBe(401);
  await endSession(cloud, other.id);
});

test('L14: no request of a page is led to another preview, where its cookie would open that', async () => {
  const granted = await browse(`${pathOf(8001)}?ticket=${await newTicket()}`);
  const [cookie] = (granted.headers.getSetCookie()[0] ?? '').split(';');
  const led = async (to: string) => {
    const { status, headers } = await browse(`${pathOf(8001)}away?${to}`, cookie);
    return [status, headers.get('location')];
  };
  expect(await led(`${pathOf(8000)}page.html`)).toEqual([403, null]);
  expect(await led(`${pathOf(8001)}page.html`)).toEqual([307, `${pathOf(8001)}page.html`]);
});

test('without credentials, and with wrong ones, no page is shown', async () => {
  const answers = await Promise.all([
    browse(pathOf(8001)),
    browse(pathOf(8001), 'sallyport-preview='),
    browse(pathOf(8001), `sallyport-preview=${'0'.repeat(64)}`),
    browse(`${pathOf(8001)}?ticket=${'0'.repeat(64)}`),
    cloud.request(pathOf(8001), { headers: { authorization: 'Bearer sp_wrong' } }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
  expect(challengeOf(answers[0] as Response)).toBe('Bearer');
  const stranger = await cloud.request(pathOf(8001, '00000000-0000-4000-8000-000000000000'));
  expect(stranger.status).toBe(404);
});

test('a port outside the range is refused, and one without a listener is reported', async () => {
  const outside = await Promise.all([8080, 19_999, 80, 65_536].map((port) => cloud.request(pathOf(port))));
  expect(outside.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
  const silent = await cloud.request(pathOf(8002));
  expect([silent.status, silent.headers.get('retry-after'), await silent.json()]).toEqual([
    503,
    '1',
    {
      error: {
        ...{ code: 'sandbox_unavailable', message: 'nothing listens on port 8002' },
        suggestions: ['Start a server on this port in the sandbox, then ask again.'],
        ...{ recoveryActions: ['wait_and_retry'], requestId: silent.headers.get('x-request-id') },
        port: 8002,
      },
    },
  ]);
  const unseen = await cloud.request(pathOf(8002), { method: 'HEAD' });
  expect([unseen.status, await unseen.text()]).toEqual([503, '']);
  for (const name of ['retry-after', 'content-security-policy'])
    expect(unseen.headers.get(name)).toBe(silent.headers.get(name));
});

test('leases rotate, are counted, and end with the sandbox', async () => {
  const { id, workspace } = await makeSession(cloud, { kind: 'execution', flavor: 'micro' });
  // The ports of all sessions are counted.
  onTestFailed(() => endSession(cloud, id));
  const lease = async (port?: number): Promise<number> => {
    const body = JSON.stringify(port === undefined ? {} : { port });
    const leased = await cloud.ask<{ port: number; path: string }>(`/api/sessions/${id}/ports`, {
      method: 'POST',
      body,
    });
    expect(leased.path).toBe(pathOf(leased.port, id));
    return leased.port;
  };
  type PortStats = { allocatedPorts: number; availablePorts: number; portUtilization: number };
  const portStats = async () => {
    const { allocatedPorts, availablePorts, portUtilization } = await cloud.ask<PortStats>('/api/stats');
    return { allocatedPorts, availablePorts, portUtilization };
  };
  const allocated = async () => (await portStats()).allocatedPorts;

  expect([await lease(), await lease(), await lease(8001)]).toEqual([8000, 8001, 8001]);
  expect([await lease(8500), await lease()]).toEqual([8500, 8501]);
  expect([await lease(8999), await lease()]).toEqual([8999, 8002]);
  expect(await portStats()).toEqual({ allocatedPorts: 6, availablePorts: 994, portUtilization: 0.6 });
  const leased = await cloud.ask<{ ports: { port: number }[] }>(`/api/sessions/${id}/ports`);
  expect(leased.ports.map(({ port }) => port)).toEqual([8000, 8001, 8500, 8501, 8999, 8002]);
  const refused = await cloud.request(`/api/sessions/${id}/ports`, { method: 'POST', body: '{"port":8080}' });
  expect(refused.status).toBe(400);

  killServer(cloud.home, (await sandboxRecord(cloud, workspace)).taskArn ?? '');
  await eventually(
    () => showSession(cloud, id),
    ({ sandbox }) => sandbox?.state === 'stopped',
  );
  expect(await allocated()).toBe(0);
  expect(await lease()).toBe(8000);
  await endSession(cloud, id);
});

/** A handshake that tells what it was sent, tries to plant a cookie, and then echoes what comes. */
const socketEcho = `
import base64, hashlib, socket, threading
def talk(client):
    asked = b''
    while b'\\r\\n\\r\\n' not in asked:
        part = client.recv(4096)
        if not part: return
        asked += part
    key = [line.split(b': ')[1] for line in asked.split(b'\\r\\n') if line.lower().startswith(b'sec-websocket-key')][0]
    accept = base64.b64encode(hashlib.sha1(key + b'258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest())
    client.send(b'HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSet-Cookie: planted=1\\r\\nSec-WebSocket-Accept: ' + accept + b'\\r\\n\\r\\n')
    seen = asked.split(b' ')[1] + (b' leaked' if b'bearer' in asked.lower() else b' clean')
    client.send(bytes([0x81, len(seen)]) + seen)
    frame = client.recv(4096)
    text = bytes(byte ^ frame[2 + index % 4] for index, byte in enumerate(frame[6:]))
    client.send(bytes([0x81, len(text)]) + text)
server = socket.create_server(('127.0.0.1', 3000))
while True: threading.Thread(target=talk, args=(server.accept()[0],)).start()
`;

test('a WebSocket reaches a port of user code on one machine, without credentials', async () => {
  const headers = { 'content-type': 'application/octet-stream' };
  const put = { method: 'PUT', body: socketEcho, headers };
  await cloud.request(`/api/sessions/${agent.id}/files/.sockets.py`, put);
  await agent.run('$ (python3 .sockets.py >/dev/null 2>&1 &)');
  const address = `${cloud.url.replace('http', 'ws')}${pathOf(3000)}live?x=1`;
  const connect = (more: Record<string, string>) => new WebSocket(address, { headers: more });
  const authorization = `Bearer ${cloud.token}`;
  const opened = await eventually(
    () => opening(connect({ authorization })),
    ({ status }) => status === 101,
  );
  expect(opened.cookies).toBeUndefined();
  expect(await opened.received.next()).toBe('/live?x=1 clean');
  opened.socket.send('hello ☂');
  expect(await opened.received.next()).toBe('hello ☂');
  opened.socket.close();
  expect((await opening(connect({}))).status).toBe(401);
  expect((await opening(connect({ authorization: 'Bearer sp_wrong' }))).status).toBe(401);
});

/** It accepts the upgrade, and resets the connection: an end with linger 0 sends no FIN. */
const socketReset = `
import socket, struct
server = socket.create_server(('127.0.0.1', 3001))
while True:
    client = server.accept()[0]
    client.recv(4096)
    client.send(b'HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Accept: x\\r\\n\\r\\n')
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    client.close()
`;

test('a server that resets its WebSockets ends them, and no other program of the sandbox', async () => {
  const headers = { 'content-type': 'application/octet-stream' };
  const put = { method: 'PUT', body: socketReset, headers };
  await cloud.request(`/api/sessions/${agent.id}/files/.reset.py`, put);
  await agent.run('$ (python3 .reset.py >/dev/null 2>&1 &)');
  const address = `${cloud.url.replace('http', 'ws')}${pathOf(3001)}live`;
  const authorization = `Bearer ${cloud.token}`;
  const refused = await eventually(
    () => opening(new WebSocket(address, { headers: { authorization } })),
    ({ status }) => status !== 503,
  );
  expect(refused.status).toBe(0);
  for (let time = 0; time < 5; time += 1)
    expect((await opening(new WebSocket(address, { headers: { authorization } }))).status).toBe(0);
  expect((await cloud.request(pathOf(8000))).status).toBe(200);
});

test('an open WebSocket of a preview ends with the access of its token', async () => {
  const made = await cloud.request('/api/tokens', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'preview', scope: 'admin' }),
  });
  const { id: tokenId, token } = (await made.json()) as { readonly id: string; readonly token: string };
  const address = `${cloud.url.replace('http', 'ws')}${pathOf(3000)}live`;
  const connect = () => new WebSocket(address, { headers: { authorization: `Bearer ${token}` } });
  const opened = await eventually(
    () => opening(connect()),
    ({ status }) => status === 101,
  );
  expect(await opened.received.next()).toBe('/live clean');
  const closed = once(opened.socket, 'close');
  const revoked = await cloud.request(`/api/tokens/${tokenId}`, { method: 'DELETE' });
  expect(revoked.ok).toBe(true);
  await closed;
  expect((await opening(connect())).status).toBe(401);
});

test('where nothing carries an upgrade it is refused with a sentence', async () => {
  const refused = await cloud.request(pathOf(8000), { headers: { 'sec-websocket-key': 'x'.repeat(22) } });
  expect(refused.status).toBe(426);
  expect(await refused.json()).toMatchObject({ error: { code: 'upgrade_required' } });
});

type Opening = {
  readonly status: number;
  readonly cookies: string | readonly string[] | undefined;
  readonly socket: WebSocket;
  readonly received: { readonly next: () => Promise<string> };
};

/** The outcome of a handshake; messages are kept until they are read. */
const opening = (socket: WebSocket): Promise<Opening> =>
  new Promise((resolve) => {
    const texts: string[] = [];
    let wake = (): void => undefined;
    socket.on('message', (data) => {
      texts.push(String(data));
      wake();
    });
    const next = async (): Promise<string> => {
      while (texts.length === 0) await new Promise<void>((woken) => (wake = woken));
      return texts.shift() ?? '';
    };
    let cookies: Opening['cookies'];
    const settle = (status: number): void => resolve({ status, cookies, socket, received: { next } });
    socket.on('error', () => settle(0));
    socket.on('unexpected-response', (_, { statusCode = 0 }) => settle(statusCode));
    socket.on('upgrade', ({ headers }) => (cookies = headers['set-cookie']));
    socket.on('open', () => settle(101));
  });
