/** The bytes of a session with hosts outside, black-box: they are counted, and end at the deployment's limit. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OutsideHost, openHttpHost } from './egress-hosts.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';

let cloud: EmbeddedCloud;
let host: OutsideHost;

beforeAll(async () => {
  host = await openHttpHost((request, response) => {
    response.end(request.url === '/big' ? Buffer.alloc(5_000_000, 'x') : 'small');
  });
  const listed = `localhost:${host.port}`;
  cloud = await openEmbeddedCloud({
    variables: {
      EGRESS_ALLOW: '*',
      EGRESS_ALLOWED_PRIVATE_HOSTS: listed,
      MAX_EGRESS_MB: '1',
      RELAY_IDLE_SECONDS: '5',
    },
  });
  await cloud.ask('/api/projects/00000000-0000-4000-8000-000000000000', {
    method: 'PATCH',
    body: JSON.stringify({ network: { allow: [listed] } }),
  });
});
afterAll(async () => {
  await cloud.stop();
  host.close();
});

type Event = { readonly type: string; readonly data: Readonly<Record<string, unknown>> };
const create = async (options: object = {}): Promise<string> =>
  (
    await cloud.ask<{ readonly id: string }>('/api/sessions', {
      method: 'POST',
      body: JSON.stringify({ provider: 'demo', ...options }),
    })
  ).id;
const run = (id: string, path: string) =>
  cloud.ask<{ readonly exitCode: number; readonly stdout: string }>(`/api/sessions/${id}/exec`, {
    method: 'POST',
    body: JSON.stringify({
      command: `no_proxy= NO_PROXY= curl -sS -o /tmp/out -w '%{http_code} ' http://localhost:${host.port}${path}; head -c 200 /tmp/out`,
    }),
  });

test('a session that has used its bytes is cut off, is told so, and the log says it (EG7)', async () => {
  const id = await create();
  expect((await run(id, '/small')).stdout).toBe('200 small');
  expect((await run(id, '/big')).exitCode).toBe(0);
  const { stdout } = await run(id, '/small');
  expect(stdout).toMatch(/^403 this session has used its 1 MB of traffic .*MAX_EGRESS_MB/);
  const events = await eventually(
    async () => {
      const { events: all } = await cloud.ask<{ readonly events: readonly Event[] }>(
        `/api/sessions/${id}/events`,
      );
      return all.filter(({ type }) => type === 'egress').map(({ data }) => data);
    },
    (all) => all.filter(({ isOverLimit }) => isOverLimit).length > 0,
  );
  const passed = events.reduce((sum, { bytesIn }) => sum + Number(bytesIn), 0);
  expect([passed > 900_000, passed < 2_000_000]).toEqual([true, true]);
  expect((await run(await create(), '/small')).stdout).toBe('200 small');
});

test('TM11: a child has the bytes that it was given, and what it used is shown in its tree', async () => {
  const root = await create({ approvals: 'auto' });
  const spawn = {
    action: 'spawn',
    prompt: 'hello',
    network: [`localhost:${host.port}`],
    max_egress_bytes: 100_000,
  };
  const message = (id: string, text: string) =>
    cloud.ask(`/api/sessions/${id}/messages`, { method: 'POST', body: JSON.stringify({ text }) });
  await message(root, `call session ${JSON.stringify(spawn)}`);
  type Branch = { readonly id: string; readonly slice?: Readonly<Record<string, number>> };
  const branches = () => cloud.ask<{ readonly sessions: readonly Branch[] }>(`/api/sessions/${root}/tree`);
  const { sessions } = await eventually(branches, ({ sessions: all }) => all[1]?.slice !== undefined);
  const child = sessions[1]?.id ?? '';
  expect((await run(child, '/small')).stdout).toBe('200 small');
  await run(child, '/big');
  expect((await run(child, '/small')).stdout).toMatch(
    /^403 the bytes of egress of this session are used up \(max_egress_bytes\)/,
  );
  const shown = await eventually(
    branches,
    ({ sessions: all }) => (all[1]?.slice?.['egressBytes'] ?? 0) > 100_000,
  );
  expect(shown.sessions[1]?.slice).toMatchObject({ maxEgressBytes: 100_000 });
  expect(shown.sessions[1]?.slice?.['egressBytes']).toBeLessThan(400_000);
  expect((await run(root, '/small')).stdout).toBe('200 small');
  await message(child, `call session ${JSON.stringify({ ...spawn, max_egress_bytes: 1 })}`);
  const answer = await eventually(
    async () => JSON.stringify(await cloud.ask(`/api/sessions/${child}/events`)),
    (text) => text.includes('is left of your budget'),
  );
  expect(answer).toContain('max_egress_bytes: 0 is left of your budget');
});
