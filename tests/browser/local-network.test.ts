/**
 * Pages against the services of this machine, in a Chromium whose own checks of local networks are switched off: a
 * page on a preview, one of a foreign origin, and one whose name was made to lead here. Each tries every port that
 * the running cloud listens on; afterwards nothing is read, written or invoked. The table lists what a page on a
 * preview can still ask for.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { environments } from '#shared/config/environment.ts';
import { type Agent, openAgent, type Shown } from '../e2e/agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { attack, type Prey, type Readable } from './attack.ts';
import { chromiumPath } from './browser.ts';
import { listeningAddresses } from './listening-addresses.ts';
import { callOut, waysOut } from './ways-out.ts';

const port = 8000;
const foreignName = 'evil.example';
const bucket = 'sallyport-workspaces';

/** A server of user code: an empty page, and a redirect to wherever it is asked to. */
const preview = `
import http.server, urllib.parse
class Preview(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path, _, query = self.path.partition('?')
        to = urllib.parse.parse_qs(query).get('to')
        self.send_response(302 if to else 200)
        if to: self.send_header('location', to[0])
        self.send_header('content-type', 'text/javascript' if path.endswith('.js') else 'text/html')
        self.end_headers()
        self.wfile.write(b'globalThis.ownScript = 1' if path.endswith('.js') else b'<!doctype html><body>preview')
    do_POST = do_GET
http.server.ThreadingHTTPServer(('127.0.0.1', ${port}), Preview).serve_forever()
`;

/** A server that is none of ours, on another port: what reaches it has left the page. */
type Trap = {
  readonly origin: string;
  readonly address: string;
  readonly stun: string;
  readonly requests: () => readonly string[];
  readonly datagrams: () => number;
};

let cloud: EmbeddedCloud;
let agent: Agent;
let browser: Browser;
let trap: Trap;
const closing: (() => unknown)[] = [];

const openTrap = async (): Promise<Trap> => {
  const requests: string[] = [];
  let datagrams = 0;
  const hear = ({ url = '' }: IncomingMessage): void => void requests.push(url.slice(1));
  const server = createServer((request, response) => {
    hear(request);
    response.writeHead(200, { 'content-type': 'text/html', 'access-control-allow-origin': '*' });
    response.end('<!doctype html><body>foreign');
  });
  server.on('upgrade', (request: IncomingMessage, socket) => {
    hear(request);
    socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const udp = createSocket('udp4').on('message', () => {
    datagrams += 1;
  });
  udp.bind(0, '127.0.0.1');
  await once(udp, 'listening');
  closing.push(
    () => server.closeAllConnections(),
    () => server.close(),
    () => udp.close(),
  );
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    ...{ origin: `http://${address}`, address, stun: `127.0.0.1:${udp.address().port}` },
    requests: () => requests.splice(0).filter((path) => path !== 'favicon.ico'),
    datagrams: () => datagrams,
  };
};

beforeAll(async () => {
  cloud = await openEmbeddedCloud();
  agent = await openAgent(cloud);
  const headers = { 'content-type': 'application/octet-stream' };
  const put = { method: 'PUT', body: preview, headers };
  expect((await cloud.request(`/api/sessions/${agent.id}/files/.preview.py`, put)).status).toBe(201);
  await agent.run('$ (python3 .preview.py >/dev/null 2>&1 &)');
  await eventually(
    () => cloud.request(previewPath()),
    ({ status }) => status === 200,
  );
  trap = await openTrap();
  browser = await chromium.launch({
    executablePath: chromiumPath,
    args: [
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-features=LocalNetworkAccessChecks,LocalNetworkAccessChecksWebRTC,BlockInsecurePrivateNetworkRequests,PrivateNetworkAccessRespectPreflightResults',
      `--host-resolver-rules=MAP ${foreignName} 127.0.0.1`,
    ],
  });
});
afterAll(async () => {
  await browser?.close();
  for (const close of closing.splice(0)) close();
  await cloud?.stop();
});

const previewPath = (): string => `/api/sessions/${agent.id}/ports/${port}/`;

/** Every port of this process and its children but the trap's: the cloud runs in here. */
const origins = (): readonly string[] =>
  listeningAddresses(process.pid)
    .filter((address) => address !== trap.address)
    .map((address) => `http://${address}`);

const planted = {
  token: `sp_${'e1'.repeat(32)}`,
  session: randomUUID(),
};

const prey = async (): Promise<Prey> => {
  const hash = createHash('sha256').update(planted.token).digest('hex');
  const text = (value: string) => ({ S: value });
  const authorizer = {
    ...{ owner: 'deployment', scope: 'admin', tokenHash: 'none', isPerson: 'true' },
    ...{ expiresAt: '9999999999999', sessionId: planted.session },
  };
  const event = (eventType: string, body?: string) => ({
    requestContext: {
      ...{ connectionId: 'forged=', eventType, routeKey: '$default', requestId: randomUUID() },
      ...{ requestTimeEpoch: Date.now(), stage: 'ws', domainName: 'x', apiId: 'local', messageId: 'm' },
      authorizer,
    },
    ...{ queryStringParameters: { sessionId: planted.session }, headers: {}, body, isBase64Encoded: false },
  });
  return {
    origins: origins(),
    functions: Object.keys(environments).map((name) => `sallyport-${name}`),
    tokenItem: {
      ...{ pk: text(`TOKEN#${hash}`), sk: text('META'), hash: text(hash), id: text(randomUUID()) },
      ...{ name: text('planted'), scope: text('admin'), masked: text('x'), createdAt: { N: '1' } },
    },
    socketEvents: [
      event('CONNECT'),
      event('MESSAGE', JSON.stringify({ action: 'message', text: '$ touch planted' })),
    ],
    apiEvent: {
      ...{ resource: '/api/{proxy+}', path: '/api/sessions', httpMethod: 'POST', headers: {} },
      ...{ requestContext: { requestId: randomUUID(), authorizer }, body: '{}', isBase64Encoded: false },
    },
    taskArn: (await cloud.runningTasks())[0] ?? '',
    bucket,
  };
};

/** The state that the attacks are after. Rates, tickets and their grants change with each request that this test itself makes. */
const volatile = /^(RATE|TICKET|GRANT|PREVIEW|HISTORY|METRIC)/;

const state = async () => {
  const { Items = [] } = await cloud.table.client.send(new ScanCommand({ TableName: cloud.table.name }));
  const listed = (path: string) => cloud.ask<object>(path);
  return {
    items: Items.map(({ pk, sk }) => `${pk} ${sk}`)
      .filter((key) => !volatile.test(key))
      .sort(),
    tokens: await listed('/api/tokens'),
    sessions: (await cloud.ask<{ sessions: readonly Shown[] }>('/api/sessions')).sessions.map(
      ({ id, status }) => `${id} ${status}`,
    ),
    schedules: await listed('/api/schedules'),
    tasks: await cloud.runningTasks(),
    files: (
      await Promise.all(
        ['s3', 'secrets', 'scheduler'].map((name) => readdir(join(cloud.home, name), { recursive: true })),
      )
    ).flat(),
    asPlanted: (await cloud.request('/api/tokens', { headers: { authorization: `Bearer ${planted.token}` } }))
      .status,
    plantedSession: (await cloud.request(`/api/sessions/${planted.session}`)).status,
  };
};

/** A refusal may be read where the page has the endpoint's own origin; nothing else may be anywhere. */
const leaks = (seen: readonly Readable[]): readonly Readable[] =>
  seen.filter(({ origin, status }) => status < 400 && new URL(origin).port !== new URL(cloud.url).port);

const openPage = async (url: string): Promise<Page> => {
  const page = await (await browser.newContext()).newPage();
  await page.goto(url);
  return page;
};

const openPreview = async (): Promise<Page> => {
  const { ticket } = await cloud.ask<{ ticket: string }>('/api/tickets', { method: 'POST' });
  const page = await openPage(`${cloud.url}${previewPath()}?ticket=${ticket}`);
  expect(await page.evaluate(() => globalThis.origin)).toBe('null');
  return page;
};

test('the ports are found: the origin, the endpoints and the address of the sandbox', () => {
  const found = origins();
  expect(found).toEqual(expect.arrayContaining([cloud.url, ...Object.values(cloud.endpoints)]));
  expect(found).toContainEqual(expect.stringMatching(/^http:\/\/127\.77\.\d+\.\d+:\d+$/));
});

test('a page on a preview reads, writes and invokes nothing', async () => {
  const page = await openPreview();
  const before = await state();
  const seen = await page.evaluate(attack, await prey());
  expect({ seen, ...(await state()) }).toEqual({ seen: [], ...before });
  await page.context().close();
});

test('a page of a foreign origin reads, writes and invokes nothing', async () => {
  const before = await state();
  for (const url of [`${trap.origin}/page`, trap.origin.replace('127.0.0.1', foreignName)]) {
    const page = await openPage(url);
    const seen = await page.evaluate(attack, await prey());
    expect({ seen, ...(await state()) }).toEqual({ seen: [], ...before });
    await page.context().close();
  }
});

test('a page whose name resolves to this machine reads only refusals', async () => {
  const before = await state();
  const attackNamed = async (origin: string): Promise<void> => {
    const named = `http://${foreignName}:${new URL(origin).port}`;
    const page = await (await browser.newContext()).newPage();
    await page.route(`${named}/page`, (route) =>
      route.fulfill({ contentType: 'text/html', body: '<!doctype html><body>' }),
    );
    await page.goto(`${named}/page`);
    const seen = await page.evaluate(attack, { ...(await prey()), origins: [named] });
    expect(leaks(seen)).toEqual([]);
    const api = seen.filter(({ trick }) => /tokens|make a session|mcp$/.test(trick));
    expect(api.filter(({ status }) => status < 400)).toEqual([]);
    await page.context().close();
  };
  await Promise.all(origins().map(attackNamed));
  expect(await state()).toEqual(before);
});

test('a page on a preview uses its own path and reaches nothing else', async () => {
  const page = await openPreview();
  const own = page.url();
  expect(own).toMatch(new RegExp(`^${cloud.url}${previewPath()}~[0-9a-f]{64}/$`));
  const used = await page.evaluate(async (path) => {
    const script = document.createElement('script');
    script.src = `${path}own.js`;
    const loaded = new Promise((resolve) => {
      script.onload = () => resolve('loaded');
      script.onerror = () => resolve('failed');
    });
    document.body.append(script);
    const answer = await fetch(`${path}data`);
    return [await loaded, answer.status, new Function('return 3')()];
  }, own);
  expect(used).toEqual(['loaded', 200, 3]);
  trap.requests();
  await page.evaluate(waysOut, { trap: trap.origin, own });
  expect(trap.requests()).toEqual([]);
  await page.context().close();
});

test('a page on a preview does not hear the token that tabs of the app share', async () => {
  const listen = () => {
    const heard: unknown[] = [];
    Object.assign(globalThis, { heard });
    const channel = new BroadcastChannel('sallyport.token');
    channel.onmessage = ({ data }) => void heard.push(data);
    channel.postMessage({ asks: true });
  };
  const heardBy = (page: Page): Promise<unknown> => page.evaluate('heard');
  const page = await openPreview();
  const app = await page.context().newPage();
  await app.goto(`${cloud.url}/#token=${cloud.token}`);
  await app.getByRole('textbox', { name: 'Message' }).waitFor();
  await page.evaluate(listen);
  // A document of the app's own origin, which asks later, is answered: an answer to the preview would have come by then.
  const own = await page.context().newPage();
  await own.goto(`${cloud.url}/favicon.svg`);
  await own.evaluate(listen);
  await expect.poll(() => heardBy(own)).toEqual([{ token: cloud.token }]);
  expect(await heardBy(page)).toEqual([]);
  await page.context().close();
});

test('a page without the policy gets out, so the attacks are real', async () => {
  const page = await openPage(`${trap.origin}/page`);
  trap.requests();
  await page.evaluate(waysOut, { trap: trap.origin, own: `${trap.origin}/own/` });
  expect(trap.requests()).toEqual(
    expect.arrayContaining([
      ...['fetch', 'fetch-no-cors', 'keepalive', 'beacon', 'socket', 'event-source', 'worker', 'xhr'],
      ...['import', 'image', 'font', 'script', 'stylesheet', 'prefetch', 'preload', 'css-image', 'iframe'],
      ...['srcdoc', 'data-frame', 'object', 'embed', 'video', 'form', 'ping'],
    ]),
  );
  await page.context().close();
});

test('no policy stops a page that navigates itself, or opens another, or uses WebRTC', async () => {
  const navigations = {
    location: (to: string) => void location.assign(to),
    refresh: (to: string) => {
      document.head.innerHTML = `<meta http-equiv="refresh" content="0; url=${to}">`;
    },
    popup: (to: string) => void window.open(to),
  };
  trap.requests();
  for (const [way, go] of Object.entries(navigations)) {
    const page = await openPreview();
    await page.evaluate(go, `${trap.origin}/${way}?secret`);
    await eventually(
      async () => trap.requests(),
      (requests) => requests.includes(`${way}?secret`),
    );
    await page.context().close();
  }
  const page = await openPreview();
  await page.evaluate(callOut, trap.stun);
  await eventually(
    async () => trap.datagrams(),
    (datagrams) => datagrams > 0,
  );
  await page.context().close();
});
