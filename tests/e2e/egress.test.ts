/** Egress, black-box: programs of a sandbox reach the hosts of their session's list through the relay, and no others. */
import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OutsideHost, openHttpHost, openTcpHost, openTlsHost } from './egress-hosts.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';

let cloud: EmbeddedCloud;
let web: OutsideHost;
let tls: OutsideHost;
let unlisted: OutsideHost;
let echo: OutsideHost;
let reached = 0;

beforeAll(async () => {
  unlisted = await openHttpHost((_, response) => {
    reached += 1;
    response.end('unlisted');
  });
  web = await openHttpHost((request, response) => {
    if (request.url === '/away')
      response.writeHead(302, { location: `http://unlisted.example.org:${unlisted.port}/` }).end();
    else if (request.url === '/big') response.end(Buffer.alloc(5_000_000, 'x'));
    else if (request.method === 'POST') {
      let bytes = 0;
      request.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      request.on('end', () => response.end(`${bytes} bytes`));
    } else response.end(`${request.method} ${request.url} ${request.headers.host}`);
  });
  tls = await openTlsHost((request, response) => response.end(`${request.method} ${request.url} over TLS`));
  echo = await openTcpHost(createServer((socket) => socket.on('error', () => undefined).pipe(socket)));
  cloud = await openEmbeddedCloud({
    variables: {
      MSB_DEFAULT_FLAVOR: 'micro',
      EGRESS_ALLOW: 'localhost,*.localhost,*.example.org,127.0.0.1,[::ffff:7f00:1]',
      EGRESS_ALLOWED_PRIVATE_HOSTS: [web, tls, echo].map(({ port }) => `localhost:${port}`).join(','),
    },
  });
  await changeProject({ allow: ['localhost', '127.0.0.1', '[::ffff:7f00:1]', 'listed.example.org'] });
});
afterAll(async () => {
  await cloud.stop();
  for (const host of [web, tls, unlisted, echo]) host.close();
});

type Fields = Record<string, unknown>;
type Shown = { readonly id: string; readonly network: unknown; readonly workspace: string };
const post = <T = Fields>(path: string, body: Fields): Promise<T> =>
  cloud.ask<T>(path, { method: 'POST', body: JSON.stringify(body) });
const changeProject = (network: unknown) =>
  cloud.ask('/api/projects/00000000-0000-4000-8000-000000000000', {
    method: 'PATCH',
    body: JSON.stringify({ network }),
  });
const change = (id: string, network: unknown) =>
  cloud.request(`/api/sessions/${id}`, { method: 'PATCH', body: JSON.stringify({ network }) });
const create = (body: Fields = {}) => post<Shown>('/api/sessions', { provider: 'demo', ...body });
/** `localhost` is the sandbox itself unless a program is told otherwise. */
const outside = 'export no_proxy= NO_PROXY= npm_config_noproxy=;';
const run = (id: string, command: string) =>
  post<{ readonly exitCode: number; readonly stdout: string; readonly stderr: string }>(
    `/api/sessions/${id}/exec`,
    { command: `${outside} ${command}` },
  );
type Event = { readonly type: string; readonly data: Fields };
const egressOf = async (id: string, holds: (events: readonly Fields[]) => boolean) =>
  eventually(async () => {
    const { events } = await cloud.ask<{ readonly events: readonly Event[] }>(`/api/sessions/${id}/events`);
    return events.filter(({ type }) => type === 'egress').map(({ data }) => data);
  }, holds);

test('a listed host answers over HTTP and TLS, and the log says so (EG6)', async () => {
  const { id, network } = await create();
  expect(network).toEqual({ allow: ['localhost', '127.0.0.1', '[::ffff:7f00:1]', 'listed.example.org'] });
  expect(await run(id, `curl -sS http://localhost:${web.port}/hello?x=1`)).toMatchObject({
    exitCode: 0,
    stdout: `GET /hello?x=1 localhost:${web.port}`,
  });
  expect((await run(id, `curl -sSk https://localhost:${tls.port}/secret`)).stdout).toBe(
    'GET /secret over TLS',
  );
  const events = await egressOf(id, (all) => all.length === 2);
  expect(events[0]).toMatchObject({ host: 'localhost', port: web.port, allowed: true, connections: 1 });
  expect(events[1]).toMatchObject({ host: 'localhost', port: tls.port, allowed: true });
  expect(events.every(({ bytesIn, bytesOut }) => Number(bytesIn) > 50 && Number(bytesOut) > 50)).toBe(true);
});

test('large bodies pass both ways, many at once', async () => {
  const { id } = await create();
  const one = `curl -sS http://localhost:${web.port}/big | wc -c`;
  const many = await run(id, `for i in 1 2 3 4; do (${one}) & done; wait`);
  expect(many.stdout.trim().split(/\s+/)).toEqual(Array.from({ length: 4 }, () => '5000000'));
  const sent = `head -c 5000000 /dev/zero | curl -sS --data-binary @- http://localhost:${web.port}/upload`;
  expect((await run(id, sent)).stdout).toBe('5000000 bytes');
});

test('a tunnel of any protocol passes bytes both ways, to its half-closed end', async () => {
  const { id } = await create();
  const python = [
    'import socket',
    's = socket.create_connection(("127.0.0.1", 19998))',
    `s.sendall(b"CONNECT localhost:${echo.port} HTTP/1.1\\r\\n\\r\\n")`,
    'f = s.makefile("rb"); print(f.readline().split()[1].decode()); f.readline()',
    's.sendall(b"x" * 300000); s.shutdown(socket.SHUT_WR); print(len(f.read()))',
  ].join('\n');
  expect((await run(id, `python3 -c '${python}'`)).stdout).toBe('200\n300000\n');
});

const refused = [
  [
    'a host that is not listed',
    () => `http://unlisted.example.org:${unlisted.port}/`,
    'is not among the hosts',
  ],
  [
    'a listed name at a private address (EG3)',
    () => `http://localhost:${unlisted.port}/`,
    'is private, loopback',
  ],
  ['a listed private address', () => `http://127.0.0.1:${web.port}/`, 'is private, loopback'],
  [
    'a listed private address inside an IPv6 one',
    () => `http://[::ffff:127.0.0.1]:${web.port}/`,
    'is private, loopback',
  ],
  ['the same in hexadecimal', () => `http://[::ffff:7f00:1]:${web.port}/`, 'is private, loopback'],
  ['an address of IPv6 that is not listed', () => `http://[::1]:${web.port}/`, 'is not among the hosts'],
  ['the address of metadata', () => 'http://169.254.169.254/latest/', 'is not among the hosts'],
] as const;

test('hosts that are refused are answered with a sentence, in the log, and not reached', async () => {
  const { id } = await create();
  for (const [what, url, sentence] of refused) {
    const { stdout } = await run(id, `curl -sS -w '%{http_code}' '${url()}'`);
    expect([what, stdout]).toEqual([what, expect.stringContaining(sentence)]);
    expect([what, stdout.slice(-3)]).toEqual([what, '403']);
    const tunnelled = await run(id, `curl -sS -p '${url()}'`);
    expect([what, tunnelled.exitCode, tunnelled.stderr]).toEqual([what, 56, expect.stringContaining('403')]);
  }
  const events = await egressOf(id, (all) => all.length >= refused.length);
  expect(events.filter(({ allowed }) => allowed)).toEqual([]);
  expect(reached).toBe(0);
});

test('an address in another spelling than its own is refused (EG2)', async () => {
  const { id } = await create();
  for (const host of ['2130706433', '0x7f000001', '0177.0.0.1', '127.1', '127.0.0.1%2eexample.org']) {
    const request = `GET http://${host}:${web.port}/ HTTP/1.1\\r\\nhost: x\\r\\nconnection: close\\r\\n\\r\\n`;
    const python = [
      'import socket',
      's = socket.create_connection(("127.0.0.1", 19998))',
      `s.sendall(b"${request}"); print(s.makefile("rb").read().decode())`,
    ].join('\n');
    const { stdout } = await run(id, `python3 -c '${python}'`);
    expect([host, stdout]).toEqual([host, expect.stringMatching(/^HTTP\/1.1 403.*is not a host name/s)]);
  }
});

test('a redirect to an unlisted host is judged like any request (EG4)', async () => {
  const { id } = await create();
  const { stdout } = await run(id, `curl -sSL -w ' %{http_code}' http://localhost:${web.port}/away`);
  expect(stdout).toMatch(/is not among the hosts .* 403$/s);
  expect(reached).toBe(0);
});

test('a TLS name other than the host of the tunnel ends it (EG5)', async () => {
  const { id } = await create();
  const other = `--connect-to other.example.org:443:localhost:${tls.port}`;
  const { exitCode, stdout } = await run(id, `curl -sSk ${other} https://other.example.org/`);
  expect([exitCode === 0, stdout]).toEqual([false, '']);
  const [event] = await egressOf(id, (all) => all.length === 1);
  expect(event).toMatchObject({ host: 'localhost', port: tls.port, allowed: false });
});

test('a session without a network has none, whatever it tries', async () => {
  const { id, network } = await create({ network: 'none' });
  expect(network).toBe('none');
  expect((await run(id, `env | grep -ic '_proxy='; curl -sS http://localhost:${web.port}/`)).exitCode).toBe(
    7,
  );
  const asked = await run(id, `curl -sS -x http://127.0.0.1:19998 http://localhost:${web.port}/`);
  expect(asked.stdout).toBe('this sandbox has no network: no host is allowed\n');
});

test('a session narrows its project, and is refused more (EG1)', async () => {
  const { id, network } = await create({ network: { allow: ['listed.example.org'] } });
  expect(network).toEqual({ allow: ['listed.example.org'] });
  expect((await run(id, `curl -sS http://localhost:${web.port}/`)).stdout).toContain(
    'is not among the hosts',
  );
  const beyond = await cloud.request('/api/sessions', {
    method: 'POST',
    body: JSON.stringify({ provider: 'demo', network: { allow: ['other.example.org'] } }),
  });
  expect([beyond.status, await beyond.text()]).toEqual([400, expect.stringContaining('other.example.org')]);
  expect((await change(id, { allow: ['*.example.org'] })).status).toBe(400);
  expect((await change(id, { allow: ['localhost'] })).status).toBe(200);
  expect((await run(id, `curl -sS http://localhost:${web.port}/now`)).stdout).toContain('GET /now');
  const { rows } = await cloud.ask<{ readonly rows: readonly Fields[] }>('/api/audit');
  expect(rows).toContainEqual(
    expect.objectContaining({
      action: 'session.network',
      subject: id,
      detail: expect.objectContaining({ allow: ['localhost'] }),
    }),
  );
});

test('a project is bounded by the deployment', async () => {
  const wider = await cloud.request('/api/projects', {
    method: 'POST',
    body: JSON.stringify({ name: 'wider', network: { allow: ['example.com'] } }),
  });
  expect([wider.status, await wider.text()]).toEqual([400, expect.stringContaining('EGRESS_ALLOW')]);
  const made = await post<{ readonly id: string; readonly network: unknown }>('/api/projects', { name: 'p' });
  expect(made.network).toBe('none');
  expect((await create({ project: made.id })).network).toBe('none');
});

test('a sandbox that runs keeps its network for the sessions that join it', async () => {
  const workspace = crypto.randomUUID();
  const within = { workspace, createWorkspace: true };
  const first = await create({ ...within, network: { allow: ['localhost'] } });
  await run(first.id, 'true');
  expect((await create(within)).network).toEqual({ allow: ['localhost'] });
  const other = await cloud.request('/api/sessions', {
    method: 'POST',
    body: JSON.stringify({ provider: 'demo', ...within, network: 'none' }),
  });
  expect([other.status, await other.text()]).toEqual([409, expect.stringContaining('another network')]);
});
