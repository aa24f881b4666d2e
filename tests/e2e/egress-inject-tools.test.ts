/** pip, npm and git over TLS from a host that wants a credential: the platform puts it in, and they need no setting. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  makeSandboxAuthority,
  openHostCertificates,
} from '../../shared/adapters/egress/sandbox-authority.ts';
import type { WorkspaceId } from '../../shared/domain/ids.ts';
import { type OutsideHost, openTrustedHost } from './egress-hosts.ts';
import { makeOutside, serveOutside } from './egress-packages.ts';
import { type Server, startServer } from './server.ts';

const world = { workspaceId: 'the world' as WorkspaceId, generation: 1 };
const worldSecret = 'the secret of the authorities of the world';
const credential = 'Basic c29tZWJvZHk6aGlkZGVu';
const project = '00000000-0000-4000-8000-000000000000';

let folder: string;
let host: OutsideHost;
let server: Server;
const seen: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-inject-tools-'));
  await makeOutside(folder);
  const serve = serveOutside(folder, { origin: () => `https://localhost:${host.port}`, seen });
  const guarded: RequestListener = (request, response) => {
    if (request.headers.authorization === credential) serve(request, response);
    else response.writeHead(401).end();
  };
  host = await openTrustedHost(openHostCertificates(worldSecret, world, Date.now)('localhost'), guarded);
  const trusted = join(folder, 'world.pem');
  await writeFile(trusted, makeSandboxAuthority(worldSecret, Date.now).certificate(world.workspaceId, 1));
  const listed = `localhost:${host.port}`;
  server = await startServer({
    variables: {
      MSB_DEFAULT_FLAVOR: 'small',
      EGRESS_ALLOW: listed,
      EGRESS_ALLOWED_PRIVATE_HOSTS: listed,
      NODE_EXTRA_CA_CERTS: trusted,
    },
  });
  await send(`/api/projects/${project}/secrets/CREDENTIAL`, 'PUT', { value: credential });
  const inject = [{ host: listed, header: 'authorization', secret: 'CREDENTIAL' }];
  await send(`/api/projects/${project}`, 'PATCH', { network: { allow: [listed], inject } });
});
afterAll(async () => {
  await server.stop();
  host.close();
  await rm(folder, { recursive: true });
  await rm(server.home, { recursive: true, force: true });
});

const send = async <T>(path: string, method: string, body: object): Promise<T> => {
  const headers = { 'content-type': 'application/json' };
  const response = await server.request(path, { method, headers, body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === '' ? (undefined as T) : JSON.parse(text);
};
const run = async (command: string) => {
  const { id } = await send<{ readonly id: string }>('/api/sessions', 'POST', { provider: 'demo' });
  const outside = 'export no_proxy= NO_PROXY= npm_config_noproxy=;';
  return send<{ readonly exitCode: number; readonly stdout: string; readonly stderr: string }>(
    `/api/sessions/${id}/exec`,
    'POST',
    { command: `${outside} ${command}`, timeoutSeconds: 120 },
  );
};

test('git clones', async () => {
  const cloned = await run(`git clone -q https://localhost:${host.port}/repository.git c && cat c/hello.txt`);
  expect([cloned.stdout, cloned.exitCode, cloned.stderr]).toEqual(['hello\n', 0, expect.any(String)]);
});

test('pip installs', async () => {
  const install = `python3 -m pip install -q --target lib --index-url https://localhost:${host.port}/simple/ outside`;
  const installed = await run(
    `${install} && PYTHONPATH=lib python3 -c 'import outside; print(outside.word)'`,
  );
  expect([installed.stdout, installed.exitCode, installed.stderr]).toEqual(['42\n', 0, expect.any(String)]);
});

test('npm installs', async () => {
  const install = `npm install --silent --no-audit --no-fund --registry https://localhost:${host.port}/ outside`;
  const installed = await run(`${install} && node -e 'console.log(require("outside"))'`);
  expect([installed.stdout.split('\n').at(-2), installed.exitCode]).toEqual(['42', 0]);
  expect(seen).toContain('/outside-1.0.0.tgz');
});
