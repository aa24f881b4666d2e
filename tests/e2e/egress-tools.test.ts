/** pip, npm and git through the relay, without a setting of their own, from servers that stand for hosts outside. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OutsideHost, openHttpHost } from './egress-hosts.ts';
import { makeOutside, serveOutside } from './egress-packages.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from './embedded-cloud.ts';

let cloud: EmbeddedCloud;
let host: OutsideHost;
let folder: string;
const seen: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-outside-'));
  await makeOutside(folder);
  host = await openHttpHost(serveOutside(folder, { origin: () => `http://localhost:${host.port}`, seen }));
  const listed = `localhost:${host.port}`;
  cloud = await openEmbeddedCloud({
    variables: { MSB_DEFAULT_FLAVOR: 'small', EGRESS_ALLOW: listed, EGRESS_ALLOWED_PRIVATE_HOSTS: listed },
  });
  await cloud.ask('/api/projects/00000000-0000-4000-8000-000000000000', {
    method: 'PATCH',
    body: JSON.stringify({ network: { allow: [listed] } }),
  });
});
afterAll(async () => {
  await cloud.stop();
  host.close();
  await rm(folder, { recursive: true });
});

const run = async (id: string, command: string) => {
  const outside = 'export no_proxy= NO_PROXY= npm_config_noproxy=;';
  const body = JSON.stringify({ command: `${outside} ${command}`, timeoutSeconds: 120 });
  return cloud.ask<{ readonly exitCode: number; readonly stdout: string; readonly stderr: string }>(
    `/api/sessions/${id}/exec`,
    { method: 'POST', body },
  );
};
const create = async () =>
  (
    await cloud.ask<{ readonly id: string }>('/api/sessions', {
      method: 'POST',
      body: JSON.stringify({ provider: 'demo' }),
    })
  ).id;

test('git clones', async () => {
  const id = await create();
  const cloned = await run(
    id,
    `git clone -q http://localhost:${host.port}/repository.git c && cat c/hello.txt`,
  );
  expect([cloned.stdout, cloned.exitCode]).toEqual(['hello\n', 0]);
});

test('pip installs', async () => {
  const id = await create();
  const index = `--index-url http://localhost:${host.port}/simple/ --trusted-host localhost`;
  const installed = await run(
    id,
    `python3 -m pip install -q --target lib ${index} outside && PYTHONPATH=lib python3 -c 'import outside; print(outside.word)'`,
  );
  expect([installed.stdout, installed.exitCode, installed.stderr]).toEqual(['42\n', 0, expect.any(String)]);
});

test('npm installs', async () => {
  const id = await create();
  const installed = await run(
    id,
    `npm install --silent --no-audit --no-fund --registry http://localhost:${host.port}/ outside && node -e 'console.log(require("outside"))'`,
  );
  expect([installed.stdout.split('\n').at(-2), installed.exitCode]).toEqual(['42', 0]);
  expect(seen).toContain('/outside-1.0.0.tgz');
});
