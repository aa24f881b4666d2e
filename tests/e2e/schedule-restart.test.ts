/** A power cut and schedules: what was scheduled is scheduled still, a run that was under way has its end, and the next comes. */
import { rm } from 'node:fs/promises';
import { afterAll, expect, test } from 'vitest';
import { eventually } from './embedded-cloud.ts';
import { makeHomePath, type Server, startServer } from './server.ts';

type Row = {
  readonly runAt: string;
  readonly status: string;
  readonly trigger: string;
  readonly output?: string;
  readonly sessionId?: string;
};
type Shown = { readonly id: string; readonly nextRunAt: string };

const started: Server[] = [];
afterAll(() => Promise.all(started.map((server) => server.stop())));

const begin = async (home: string): Promise<Server> => {
  const server = await startServer({ home, variables: { SALLYPORT_SWEEP_SECONDS: '1' } });
  started.push(server);
  return server;
};

const ask = async <T>({ request }: Server, path: string, body?: object): Promise<T> => {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const response = await request(path, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return JSON.parse(text) as T;
};

const history = async (server: Server, id: string): Promise<readonly Row[]> =>
  (await ask<{ history: readonly Row[] }>(server, `/api/schedules/${id}/history`)).history;

test('a schedule survives a power cut: its run is completed, and the next minute is run once', async () => {
  const home = await makeHomePath();
  const first = await begin(home);
  const { id: projectId } = await ask<{ id: string }>(first, '/api/projects', {
    name: 'p',
    approvals: 'auto',
  });
  const made = await ask<Shown>(first, '/api/schedules', {
    name: 's',
    cronExpr: '* * * * *',
    prompt: 'hello',
    targets: [{ projectId }],
    overlapBehavior: 'queue',
  });
  await ask(first, `/api/schedules/${made.id}/trigger`, {});
  await first.kill();

  const second = await begin(home);
  expect(await ask<Shown>(second, `/api/schedules/${made.id}`)).toMatchObject({ name: 's', enabled: true });
  const rows = await eventually(
    () => history(second, made.id),
    (all) =>
      all.some(({ trigger, status }) => trigger === 'schedule' && status === 'success') &&
      all.every(({ status }) => status === 'success'),
    150_000,
  );
  expect(rows.filter(({ trigger }) => trigger === 'manual')).toHaveLength(1);
  const moments = rows.filter(({ trigger }) => trigger === 'schedule').map(({ runAt }) => runAt);
  expect(moments).toEqual([...new Set(moments)]);
  expect(moments).toContain(made.nextRunAt);
  await second.stop();
  await rm(home, { recursive: true, force: true });
}, 200_000);
