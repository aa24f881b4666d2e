/** Secrets in headers, black-box: the platform puts them into requests of programs, and no sandbox holds them. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { ApiClient } from '#sdk/api-client.ts';
import { api } from '#sdk/routes.ts';
import {
  makeSandboxAuthority,
  openHostCertificates,
} from '../../shared/adapters/egress/sandbox-authority.ts';
import type { WorkspaceId } from '../../shared/domain/ids.ts';
import { openAgent } from './agent.ts';
import { type OutsideHost, openHttpHost, openTlsHost, openTrustedHost } from './egress-hosts.ts';
import { type Server, startServer } from './server.ts';

/** The authority that the world outside trusts. */
const world = { workspaceId: 'the world' as WorkspaceId, generation: 1 };
const worldSecret = 'the secret of the authorities of the world';
const hidden = 'Bearer 3f6c0e3c-hidden-from-sandboxes';
const project = '00000000-0000-4000-8000-000000000000';

let folder: string;
let server: Server;
let hosts: Readonly<Record<'web' | 'tls' | 'plain' | 'bad' | 'free', OutsideHost>>;
const seen: { readonly host: string; readonly authorization: string | undefined }[] = [];

const note = (request: IncomingMessage): void => {
  seen.push({ host: request.headers.host ?? '', authorization: request.headers.authorization });
};
const answer =
  (away: () => string): RequestListener =>
  (request, response) => {
    note(request);
    if (request.url === '/away') response.writeHead(302, { location: away() }).end();
    else if (request.url === '/echo') response.end(request.headers.authorization ?? 'none');
    else response.end(`${request.method} ${request.url} as ${request.headers.authorization === hidden}`);
  };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-inject-'));
  const certificates = openHostCertificates(worldSecret, world, Date.now);
  const authority = makeSandboxAuthority(worldSecret, Date.now).certificate(world.workspaceId, 1);
  const trusted = join(folder, 'world.pem');
  await writeFile(trusted, authority);
  const free = await openTrustedHost(
    certificates('localhost'),
    answer(() => '/'),
  );
  const away = () => `https://localhost:${free.port}/arrived`;
  hosts = {
    free,
    web: await openHttpHost(answer(() => `http://localhost:${hosts.plain.port}/arrived`)),
    tls: await openTrustedHost(certificates('localhost'), answer(away)),
    plain: await openHttpHost(answer(() => '/')),
    bad: await openTlsHost(answer(() => '/')),
  };
  const listed = Object.values(hosts).map(({ port }) => `localhost:${port}`);
  server = await startServer({
    variables: {
      MSB_DEFAULT_FLAVOR: 'small',
      EGRESS_ALLOW: 'localhost',
      EGRESS_ALLOWED_PRIVATE_HOSTS: listed.join(','),
      NODE_EXTRA_CA_CERTS: trusted,
    },
  });
  await ask(`/api/projects/${project}/secrets/TOKEN`, 'PUT', { value: hidden });
  await changeProject({
    allow: ['localhost'],
    inject: [hosts.web, hosts.tls, hosts.bad].map(({ port }) => ruleFor(`localhost:${port}`)),
  });
});
afterAll(async () => {
  await server.stop();
  for (const host of Object.values(hosts)) host.close();
  await rm(folder, { recursive: true });
  await rm(server.home, { recursive: true, force: true });
});

const ruleFor = (host: string) => ({ host, header: 'Authorization', secret: 'TOKEN' });
const send = (path: string, method: string, body: unknown): Promise<Response> =>
  server.request(path, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const ask = async <T>(path: string, method: string, body: unknown): Promise<T> => {
  const response = await send(path, method, body);
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === '' ? (undefined as T) : JSON.parse(text);
};
const changeProject = (network: unknown) => ask(`/api/projects/${project}`, 'PATCH', { network });
const create = (body: object = {}) =>
  ask<{ readonly id: string; readonly network: unknown }>('/api/sessions', 'POST', {
    provider: 'demo',
    ...body,
  });
/** `localhost` is the sandbox itself unless a program is told otherwise. */
const outside = 'export no_proxy= NO_PROXY= npm_config_noproxy=;';
const run = (id: string, command: string) =>
  ask<{ readonly exitCode: number; readonly stdout: string; readonly stderr: string }>(
    `/api/sessions/${id}/exec`,
    'POST',
    { command: `${outside} ${command}`, timeoutSeconds: 60 },
  );

test('a host with a rule sees the secret over HTTP and TLS, whatever the program says (IJ2)', async () => {
  const { id } = await create();
  const said = `-H 'Authorization: of the program'`;
  expect((await run(id, `curl -sS ${said} http://localhost:${hosts.web.port}/a`)).stdout).toBe(
    'GET /a as true',
  );
  expect((await run(id, `curl -sS ${said} https://localhost:${hosts.tls.port}/b`)).stdout).toBe(
    'GET /b as true',
  );
  expect((await run(id, `curl -sSp http://localhost:${hosts.web.port}/c`)).stdout).toBe('GET /c as true');
});

test('Python and Node trust the platform for it by themselves', async () => {
  const { id } = await create();
  const url = `https://localhost:${hosts.tls.port}/`;
  const python = `import urllib.request; print(urllib.request.urlopen("${url}python").read().decode())`;
  expect((await run(id, `python3 -c '${python}'`)).stdout).toBe('GET /python as true\n');
  const node = `fetch("${url}node").then((answer) => answer.text()).then(console.log)`;
  expect((await run(id, `node -e '${node}'`)).stdout).toBe('GET /node as true\n');
});

test('nothing inside the sandbox holds the secret or the key of its authority (IJ4)', async () => {
  const { id } = await create();
  await run(id, `curl -sS http://localhost:${hosts.web.port}/`);
  const look = [
    'env',
    'cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null',
    'find / -xdev -type f -size -1M -newermt "1 hour ago" -not -path "/proc/*" -exec cat {} + 2>/dev/null',
    'cat /run/sallyport/*.pem',
  ].join('; ');
  const found = await run(
    id,
    `(${look}) | tr "\\0" "\\n" > /tmp/all; grep -ac '3f6c0e3[c]-hidden' /tmp/all; grep -ac 'PRIVATE KE[Y]' /tmp/all; grep -c 'BEGIN CERTIFICATE' /run/sallyport/authorities.pem`,
  );
  expect(found.stdout.split('\n').slice(0, 2)).toEqual(['0', '0']);
  expect(Number(found.stdout.split('\n')[2])).toBeGreaterThan(0);
  const written = await run(id, 'echo x >> /run/sallyport/authorities.pem');
  expect(written.exitCode).not.toBe(0);
});

test('an upstream whose certificate nobody vouches for is refused, and sees no request (IJ3)', async () => {
  const { id } = await create();
  const before = seen.length;
  const { stdout } = await run(id, `curl -sS -w ' %{http_code}' https://localhost:${hosts.bad.port}/`);
  expect(stdout).toMatch(/^the certificate of localhost is not valid: .* 502$/s);
  expect(seen.length).toBe(before);
});

test('a host without a rule is tunnelled as it is: its own certificate arrives, and no header', async () => {
  const { id } = await create();
  const url = `https://localhost:${hosts.free.port}/echo`;
  // Its authority is none of the sandbox.
  expect((await run(id, `curl -sS ${url}`)).exitCode).toBe(60);
  expect((await run(id, `curl -sSk ${url}`)).stdout).toBe('none');
});

test('a redirect does not carry the header to another host', async () => {
  const { id } = await create();
  expect((await run(id, `curl -sSL http://localhost:${hosts.web.port}/away`)).stdout).toBe(
    'GET /arrived as false',
  );
  expect((await run(id, `curl -sSLk https://localhost:${hosts.tls.port}/away`)).stdout).toBe(
    'GET /arrived as false',
  );
});

test('a server that echoes its headers shows the secret, as the documents say', async () => {
  const { id } = await create();
  expect((await run(id, `curl -sS http://localhost:${hosts.web.port}/echo`)).stdout).toBe(hidden);
});

test('a session has its project’s rules, or a part of them (IJ1)', async () => {
  const rule = ruleFor(`localhost:${hosts.web.port}`);
  const { id, network } = await create({ network: { allow: ['localhost'], inject: [] } });
  expect(network).toEqual({ allow: ['localhost'] });
  expect((await run(id, `curl -sS http://localhost:${hosts.web.port}/`)).stdout).toBe('GET / as false');
  const other = { ...rule, header: 'x-other' };
  const beyond = await send('/api/sessions', 'POST', { network: { allow: ['localhost'], inject: [other] } });
  expect([beyond.status, await beyond.text()]).toEqual([400, expect.stringContaining('no such rule')]);
  const change = await send(`/api/sessions/${id}`, 'PATCH', {
    network: { allow: ['localhost'], inject: [rule] },
  });
  expect(await change.json()).toMatchObject({ network: { allow: ['localhost'], inject: [rule] } });
  // The authority is trusted by programs that start from now on.
  expect((await run(id, `curl -sS http://localhost:${hosts.web.port}/`)).stdout).toBe('GET / as true');
  expect((await run(id, 'echo $SSL_CERT_FILE')).stdout).toBe('/run/sallyport/authorities.pem\n');
});

test('a child has at most the network of its parent, and works on a fork with less of it (EG1, CH5)', async () => {
  const rule = ruleFor(`localhost:${hosts.web.port}`);
  const [web = '', free = ''] = [hosts.web, hosts.free].map(({ port }) => `localhost:${port}`);
  const parent = await openAgent(server, { provider: 'demo', network: { allow: [web, free] } });
  onTestFinished(parent.close);
  const spawn = (prompt: string, more: object = {}) =>
    parent.run(`call session ${JSON.stringify({ action: 'spawn', prompt, ...more })}`);
  const children = async () => {
    const { sessions } = await new ApiClient(server).request(api.listSessions, { query: {} });
    return sessions.filter((session) => session.parent === parent.id);
  };
  const look = `$ ${outside} curl -sS http://${web}/; curl -sS https://${free}/`;
  const told = await spawn(look, { network: [web] });
  expect(told).toContain('GET / as true');
  expect(told).toContain('403');
  await spawn('hello', { network: ['none'] });
  await spawn('hello');
  const started = await children();
  const networks = started.map(({ network }) => JSON.stringify(network)).toSorted();
  expect(networks).toEqual(
    ['none', { allow: [web], inject: [rule] }, parent.network].map((one) => JSON.stringify(one)).toSorted(),
  );
  expect(started.filter(({ workspace }) => workspace === parent.workspace)).toHaveLength(1);
});

test('rules with a pattern, an unlisted host or a header of the connection are refused', async () => {
  const refused = async (inject: readonly object[]) => {
    const response = await send(`/api/projects/${project}`, 'PATCH', {
      network: { allow: ['localhost'], inject },
    });
    return [response.status, await response.text()];
  };
  const rule = ruleFor('localhost');
  expect(await refused([{ ...rule, host: '*.localhost' }])).toEqual([
    400,
    expect.stringContaining('pattern'),
  ]);
  expect(await refused([{ ...rule, host: 'example.org' }])).toEqual([
    400,
    expect.stringContaining('example.org'),
  ]);
  expect(await refused([{ ...rule, header: 'Host' }])).toEqual([400, expect.stringContaining('header')]);
  expect(await refused([rule, rule])).toEqual([400, expect.stringContaining('once')]);
});

test('a scope of the project may not set rules', async () => {
  const { token } = await ask<{ readonly token: string }>('/api/tokens', 'POST', {
    name: 'p',
    scope: `project:${project}`,
  });
  const change = await fetch(`${server.url}/api/projects/${project}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ network: { allow: ['localhost'], inject: [] } }),
  });
  expect(change.status).toBe(403);
});

test('a secret that is gone fails its requests by its name', async () => {
  await changeProject({
    allow: ['localhost'],
    inject: [{ ...ruleFor(`localhost:${hosts.web.port}`), secret: 'MISSING' }],
  });
  const { id } = await create();
  const { stdout } = await run(id, `curl -sS -w '%{http_code}' http://localhost:${hosts.web.port}/`);
  expect(stdout).toBe('the project has no secret MISSING\n502');
  const audit = await server.request('/api/audit');
  const { rows } = (await audit.json()) as { readonly rows: readonly unknown[] };
  expect(rows).toContainEqual(
    expect.objectContaining({
      action: 'project.update',
      detail: expect.objectContaining({ inject: [expect.objectContaining({ secret: 'MISSING' })] }),
    }),
  );
  expect(JSON.stringify(rows)).not.toContain('hidden-from');
  expect(server.output()).not.toContain('hidden-from');
});
