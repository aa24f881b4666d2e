/** The choices of a client for its sessions, black-box: labels and the lists they filter, archives, lifetimes, refusals. */
import { afterAll, beforeAll, expect, onTestFailed, test } from 'vitest';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud({ variables: { MSB_DEFAULT_FLAVOR: 'micro' } });
});
afterAll(() => cloud.stop());

type Fields = Record<string, unknown>;
type Shown = Fields & { readonly id: string; readonly sandbox: { state: string; reason?: string } | null };
const send = <T = Shown>(method: string, path: string, body: Fields): Promise<T> =>
  cloud.ask<T>(path, { method, body: JSON.stringify(body) });
const create = (body: Fields) => send('POST', '/api/sessions', { provider: 'demo', ...body });
const patch = (id: string, body: Fields) => send('PATCH', `/api/sessions/${id}`, body);
const listed = async (query: string): Promise<readonly string[]> =>
  (await cloud.ask<{ sessions: Shown[] }>(`/api/sessions?${query}`)).sessions.map(({ id }) => id);
const refused = async (method: string, path: string, body?: Fields): Promise<string> => {
  const response = await cloud.request(path, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  expect([response.status, error.code]).toEqual([400, 'invalid_request']);
  return error.message;
};

test('a label that objects of the language reserve is refused, not dropped', async () => {
  const body = '{"labels": {"team": "red", "__proto__": "x"}}';
  const refused = await cloud.request('/api/sessions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  expect([refused.status, await refused.json()]).toMatchObject([
    400,
    { error: { code: 'invalid_request', message: 'labels.__proto__: there is no such field' } },
  ]);
});

test('sessions are found by their labels, and a change of labels replaces them', async () => {
  // Teams of this try alone.
  const teams = { red: `red-${crypto.randomUUID()}`, blue: `blue-${crypto.randomUUID()}` };
  const red = await create({ labels: { team: teams.red, run: '1' } });
  const blue = await create({ labels: { team: teams.blue } });
  expect(red).toMatchObject({ labels: { team: teams.red, run: '1' }, archived: false, network: 'none' });
  expect(await listed(`label=team:${teams.red}`)).toEqual([red.id]);
  expect(await listed(`label=team:${teams.red}&label=run:1`)).toEqual([red.id]);
  expect(await listed(`label=team:${teams.red}&label=run:2`)).toEqual([]);
  expect(await patch(blue.id, { labels: { team: teams.red }, title: ' Mine ' })).toMatchObject({
    labels: { team: teams.red },
    title: 'Mine',
  });
  expect(await listed(`label=team:${teams.red}`)).toEqual([blue.id, red.id]);
  expect(await listed(`label=team:${teams.blue}`)).toEqual([]);
  expect(await patch(blue.id, { labels: null, title: null })).toMatchObject({ labels: {} });
  expect(await refused('GET', '/api/sessions?label=team')).toContain('label');
});

test('sessions are listed by their kind', async () => {
  const label = `kind:${crypto.randomUUID()}`;
  const labels = { kind: label.slice(5) };
  const talk = await create({ labels });
  const work = await create({ kind: 'execution', labels });
  expect(await listed(`label=${label}`)).toEqual([work.id, talk.id]);
  expect(await listed(`label=${label}&kind=agent`)).toEqual([talk.id]);
  expect(await listed(`label=${label}&kind=execution`)).toEqual([work.id]);
  expect(await refused('GET', '/api/sessions?kind=agents')).toContain('kind');
});

test('an archived session is in no list but that of the archived', async () => {
  const { id } = await create({});
  onTestFailed(async () => {
    await patch(id, { archived: false });
  });
  expect(await patch(id, { archived: true })).toMatchObject({ archived: true });
  expect(await listed('')).not.toContain(id);
  expect(await listed('archived=true')).toEqual([id]);
  expect(await patch(id, { archived: false })).toMatchObject({ archived: false });
  expect(await listed('')).toContain(id);
});

test('limits of time are shown, and those of the deployment return when they are removed', async () => {
  const made = await create({ idleSeconds: 5, lifetimeSeconds: 60, network: 'none' });
  expect(made).toMatchObject({ idleSeconds: 5, lifetimeSeconds: 60 });
  const changed = await patch(made.id, { idleSeconds: null, lifetimeSeconds: null });
  expect(changed).toMatchObject({ idleSeconds: 900 });
  expect(changed).not.toHaveProperty('lifetimeSeconds');
});

test('a sandbox is stopped at the end of its lifetime, and its files come back', async () => {
  const { id } = await create({ lifetimeSeconds: 600 });
  await send('POST', `/api/sessions/${id}/code`, { code: 'open("kept", "w").write("here")' });
  await patch(id, { lifetimeSeconds: 10 });
  const { sandbox } = await eventually(
    async () => {
      await cloud.janitor({ sweep: 'due' });
      return cloud.ask<Shown>(`/api/sessions/${id}`);
    },
    (shown) => shown.sandbox?.state === 'stopped',
    30_000,
  );
  expect(sandbox?.reason).toBe('its lifetime is over');
  expect(await send('POST', `/api/sessions/${id}/code`, { code: 'open("kept").read()' })).toMatchObject({
    results: [{ 'text/plain': "'here'" }],
  });
});

test('what cannot be is refused and named', async () => {
  const { id } = await create({});
  const many = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, '']));
  for (const path of ['/api/sessions', `/api/sessions/${id}`]) {
    const method = path.endsWith('s') ? 'POST' : 'PATCH';
    expect(await refused(method, path, { labels: many })).toContain('16 labels');
    expect(await refused(method, path, { labels: { 'a b': 'x' } })).toContain('labels');
    expect(await refused(method, path, { labels: { a: 'x\u202E' } })).toContain('labels');
    expect(await refused(method, path, { idleSeconds: 0 })).toContain('idleSeconds');
    expect(await refused(method, path, { lifetimeSeconds: 28_801 })).toContain('lifetimeSeconds');
    expect(await refused(method, path, { network: { allow: ['x'] } })).toContain('network');
    expect(await refused(method, path, { metadata: {} })).toContain('metadata');
  }
});
