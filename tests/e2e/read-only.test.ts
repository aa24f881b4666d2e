/** A token that may only read: files come from the sandbox that runs, else from what was saved, and none is started. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, onTestFailed, test } from 'vitest';
import { makeSession, restSandbox, showSession } from './agent.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from './embedded-cloud.ts';
import { connect, errorOf, fieldsOf, type McpClient } from './mcp-clients.ts';

type Dated = { readonly lastActiveAt: string };
type Listed = {
  readonly files: readonly { readonly name: string; readonly type: string; readonly size: number }[];
};

let cloud: EmbeddedCloud;
let client: McpClient;
let id: string;
let token: string;
/** More than one piece of a stream, and no text. */
const large = randomBytes(700_000);

beforeAll(async () => {
  cloud = await openEmbeddedCloud();
  const body = JSON.stringify({ name: 'a reader', scope: 'admin:ro' });
  ({ token } = await cloud.ask<{ token: string }>('/api/tokens', { method: 'POST', body }));
  client = await connect({ url: cloud.url, token });
  ({ id } = await makeSession(cloud, { flavor: 'micro' }));
});
afterAll(async () => {
  await client.close();
  await cloud.stop();
});

const read = (path: string): Promise<Response> =>
  fetch(`${cloud.url}/api/sessions/${id}${path}`, { headers: { authorization: `Bearer ${token}` } });

const lastActiveAt = async () => (await cloud.ask<Dated>(`/api/sessions/${id}`)).lastActiveAt;

test('a workspace that was never saved is empty, and stays without a sandbox', async () => {
  const before = await lastActiveAt();
  expect(await (await read('/files')).json()).toEqual({ files: [] });
  expect((await read('/files/nothing')).status).toBe(404);
  expect(errorOf(await client.call('read_file', { session_id: id, path: 'nothing' })).type).toBe(
    'file_not_found',
  );
  expect((await showSession(cloud, id)).sandbox).toBeNull();
  expect(await lastActiveAt()).toBe(before);
});

test('files are read from a running sandbox, which stays idle', async () => {
  for (const [path, body] of [
    ['folder/large.bin', large],
    ['empty', ''],
    ['note.txt', 'kept'],
  ] as const) {
    const headers = { 'content-type': 'application/octet-stream' };
    const file = `/api/sessions/${id}/files/${path}`;
    onTestFailed(async () => {
      await cloud.request(file, { method: 'DELETE' });
    });
    expect((await cloud.request(file, { method: 'PUT', body, headers })).status).toBe(201);
  }
  const before = await lastActiveAt();
  expect(Buffer.from(await (await read('/files/folder/large.bin')).arrayBuffer()).equals(large)).toBe(true);
  expect((await showSession(cloud, id)).sandbox?.state).toBe('ready');
  expect(await lastActiveAt()).toBe(before);
});

test('without a sandbox they are read as they were saved, and none is started', async () => {
  await restSandbox(cloud, id);
  const before = await lastActiveAt();
  const { files } = (await (await read('/files')).json()) as Listed;
  expect(files.map(({ name, type, size }) => [name, type, size])).toEqual([
    ['empty', 'file', 0],
    ['folder', 'directory', 0],
    ['note.txt', 'file', 4],
  ]);
  const whole = await read('/files/folder/large.bin');
  expect(Buffer.from(await whole.arrayBuffer()).equals(large)).toBe(true);
  expect(whole.headers.get('content-disposition')).toContain('large.bin');
  expect(await (await read('/files/empty')).text()).toBe('');
  expect((await read('/files/nothing')).status).toBe(404);
  expect((await read(`/files?path=${encodeURIComponent('../etc')}`)).status).toBe(400);
  const note = await client.call('read_file', { session_id: id, path: '/workspace/note.txt' });
  expect(fieldsOf(note)['content']).toBe('kept');
  const listed = fieldsOf(await client.call('list_files', { session_id: id, path: 'folder' }));
  expect(listed['files']).toMatchObject([{ name: 'large.bin', size: large.length }]);
  expect((await read('/logs')).status).toBe(200);
  expect((await read('/ports/8000/')).status).toBe(403);
  expect((await showSession(cloud, id)).sandbox?.state).toBe('stopped');
  expect(await lastActiveAt()).toBe(before);
  expect(await cloud.runningTasks()).toEqual([]);
});
