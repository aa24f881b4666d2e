/** The composed cloud with small functions, some of which are missing on purpose. */
import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type CloudOptions, startCloud } from './cloud.ts';

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of opened.splice(0).reverse()) await stop();
});

const open = async (more: Partial<CloudOptions> = {}) => {
  const cloud = await startCloud({
    home: await mkdtemp(join(tmpdir(), 'sallyport-cloud-')),
    port: 0,
    token: 'sp_test',
    sandboxSecret: 'x'.repeat(64),
    variables: {},
    functionsFolder: join(import.meta.dirname, 'fixtures', 'functions'),
    ...more,
  });
  opened.push(cloud.stop);
  return cloud;
};

test('a function reaches every endpoint through unchanged SDK clients, also with two clouds', async () => {
  const clouds = await Promise.all([open(), open()]);
  for (const { url } of clouds) {
    const answer = await fetch(`${url}/api/anything`);
    expect(await answer.json()).toEqual({
      path: '/api/anything',
      // The fixtures have no turn: it is deployed, and cannot be loaded.
      turn: 'Unhandled',
      hash: '4e30f3bc402a672da0866c27bb7e05c24f749efe13a298ae95d60b8c3a0fed1c',
    });
  }
});

test('strict mode runs the same functions', async () => {
  const { url } = await open({ mode: { kind: 'strict' } });
  expect((await fetch(`${url}/api/x`)).status).toBe(200);
});

test('the janitor is asked for each of its sweeps, again and again', async () => {
  const printed: string[] = [];
  await open({ sweepMs: 50, log: (text) => printed.push(text) });
  const timesOf = (sweep: string): number => printed.join('').split(`"sweep":"${sweep}"`).length - 1;
  for (const sweep of ['due', 'slots', 'orphans', 'seals', 'mcp'])
    await expect.poll(() => timesOf(sweep)).toBeGreaterThan(1);
  expect(timesOf('start')).toBe(1);
});

test('a save of all workspaces that does not end is waited for so long', async () => {
  const { saveWorkspaces } = await open();
  expect(await saveWorkspaces(50)).toBe(false);
});

test('functions know where sandboxes are started, and early task events are not lost', async () => {
  const seen: string[] = [];
  const { limits, endpoints } = await open({
    startSandboxHost: async ({ home, onTaskEvent }) => {
      seen.push(home);
      onTaskEvent({ taskArn: 'arn:early' });
      return {
        url: 'http://127.0.0.1:1',
        limits: 'best effort',
        stop: async () => void seen.push('stopped'),
      };
    },
  });
  expect([limits, endpoints['AWS_ENDPOINT_URL_ECS']]).toEqual(['best effort', 'http://127.0.0.1:1']);
  await opened.pop()?.();
  expect(seen).toEqual([expect.stringContaining('sallyport-cloud-'), 'stopped']);
});

test('a start that fails half way stops the parts it had started', async () => {
  let isStopped = false;
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  opened.push(async () => void taken.close());
  const { port } = taken.address() as { port: number };
  const failing = open({
    port,
    startSandboxHost: async () => ({
      url: 'http://127.0.0.1:1',
      limits: 'enforced',
      stop: async () => {
        isStopped = true;
      },
    }),
  });
  await expect(failing).rejects.toMatchObject({ code: 'EADDRINUSE' });
  expect(isStopped).toBe(true);
});
