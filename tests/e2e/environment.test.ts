/** Environments of sandboxes, black-box: in every program, cold and warm, after a rest, in no answer; and who joins whom. */
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { restSandbox } from './agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import { connect, fieldsOf } from './mcp-clients.ts';

const secret = 'value-that-no-answer-shows';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud({ variables: { MSB_DEFAULT_FLAVOR: 'micro', POOL_SIZE: '2' } });
});
afterAll(() => cloud.stop());

type Fields = Record<string, unknown>;
type Shown = Fields & { readonly id: string; readonly workspace: string };
const post = <T = Fields>(path: string, body: Fields): Promise<T> =>
  cloud.ask<T>(path, { method: 'POST', body: JSON.stringify(body) });
const create = (body: Fields) => post<Shown>('/api/sessions', { provider: 'demo', ...body });
const python = async (id: string, code: string) =>
  (await post(`/api/sessions/${id}/code`, { code, language: 'python' }))['stdout'];
const status = async (body: Fields): Promise<readonly [number, string, string]> => {
  const response = await cloud.request('/api/sessions', { method: 'POST', body: JSON.stringify(body) });
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  return [response.status, error.code, error.message];
};
const show = 'import os; print(os.environ.get("API_KEY"), os.getcwd())';

test('a warm sandbox learns its variables and folder after it was claimed', async () => {
  await cloud.janitor({ sweep: 'pool' });
  const pool = async () => (await cloud.ask<{ pool: { ready: number } }>('/api/stats')).pool;
  await eventually(pool, ({ ready }) => ready === 2);
  const { id } = await create({ env: { API_KEY: secret }, cwd: 'app' });
  expect(await python(id, show)).toBe(`${secret} /workspace/app\n`);
  expect((await cloud.ask<{ sandbox: Fields }>(`/api/sessions/${id}`)).sandbox).toMatchObject({
    source: 'pool',
  });
});

test('a cold sandbox has them, and so has the next one', async () => {
  const { id, ...shown } = await create({ flavor: 'small', env: { API_KEY: secret, B: '' }, cwd: '/tmp' });
  expect(shown).toMatchObject({ envNames: ['API_KEY', 'B'], cwd: '/tmp' });
  expect(await python(id, show)).toBe(`${secret} /tmp\n`);
  await restSandbox(cloud, id);
  expect(await python(id, show)).toBe(`${secret} /tmp\n`);
});

test('no answer, record, event or line of a log has a value', async () => {
  const { id } = await create({ env: { API_KEY: secret } });
  await python(id, 'pass');
  const paths = ['', '/events', '/messages', '/logs', '/ports'].map((end) => `/api/sessions/${id}${end}`);
  for (const path of [...paths, '/api/sessions', '/api/audit'])
    expect(await (await cloud.request(path)).text()).not.toContain(secret);
  const { Items = [] } = await cloud.table.client.send(new ScanCommand({ TableName: cloud.table.name }));
  expect(Items.length).toBeGreaterThan(0);
  expect(JSON.stringify(Items)).not.toContain(secret);
  expect(cloud.printed()).not.toContain(secret);
});

test('a session that a client of MCP spawns has labels and variables', async () => {
  const client = await connect(cloud);
  try {
    const spawned = await client.call('session', {
      action: 'spawn',
      new_session: true,
      create_workspace: true,
      labels: ['team:red'],
      env: [`API_KEY=${secret}`],
    });
    const id = String(fieldsOf(spawned)['session_id']);
    expect(await python(id, show)).toBe(`${secret} /workspace\n`);
    expect(await cloud.ask<Fields>(`/api/sessions/${id}`)).toMatchObject({ labels: { team: 'red' } });
    const wrong = await client.call('session', { action: 'spawn', env: ['PATH=x'] });
    expect(wrong.isError).toBe(true);
  } finally {
    await client.close();
  }
});

test('a session that joins a sandbox takes what runs, and is refused what does not', async () => {
  const workspace = crypto.randomUUID();
  const within = { workspace, createWorkspace: true };
  const first = await create({ ...within, flavor: 'micro', env: { API_KEY: 'one' } });
  await python(first.id, 'pass');
  const joined = await create(within);
  expect(joined).toMatchObject({ flavor: 'micro', template: 'python' });
  expect(await python(joined.id, show)).toBe('one /workspace\n');
  await create({ ...within, env: { API_KEY: 'one' }, flavor: 'micro', network: 'none' });
  expect(await status({ ...within, env: { API_KEY: 'two' } })).toEqual([
    409,
    'conflict',
    'the sandbox of the workspace runs with another env',
  ]);
  expect(await status({ ...within, template: 'node', flavor: 'small' })).toEqual([
    409,
    'conflict',
    'the sandbox of the workspace runs with another flavor, template',
  ]);
});

test('what is no environment is refused and named, without a value', async () => {
  const many = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`V${index}`, '']));
  const wrong = [{ PATH: secret }, { 'A-B': secret }, { A: `${secret}\0` }, { A: secret.repeat(2000) }, many];
  for (const env of wrong) {
    const [code, name, message] = await status({ env });
    expect([code, name]).toEqual([400, 'invalid_request']);
    expect(message).toContain('env');
    expect(message).not.toContain(secret);
  }
});
