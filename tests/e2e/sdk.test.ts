/** The client library against the real program: each of its calls, as its users make them. */
import { afterAll, beforeAll, expect, onTestFailed, onTestFinished, test } from 'vitest';
import { SallyportError } from '#sdk/errors.ts';
import { Sallyport } from '#sdk/sallyport.ts';
import type { Sandbox } from '#sdk/sandbox.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from './embedded-cloud.ts';

let cloud: EmbeddedCloud;
let sallyport: Sallyport;
let sandbox: Sandbox;
beforeAll(async () => {
  cloud = await openEmbeddedCloud({ variables: { MSB_DEFAULT_FLAVOR: 'micro' } });
  sallyport = new Sallyport(cloud);
  sandbox = await sallyport.sandboxes.create({ template: 'python', env: { A: '1' }, labels: { of: 'test' } });
});
afterAll(() => cloud.stop());

const failureOf = (request: Promise<unknown>) =>
  request.then(
    () => undefined,
    (error: unknown) => error as SallyportError,
  );

test('code keeps its variables, and shows the value of its last expression', async () => {
  await sandbox.code('x = 20');
  expect(await sandbox.code('x + 1')).toMatchObject({ exitCode: 0, results: [{ 'text/plain': '21' }] });
  expect(await sandbox.code('import os; os.environ["A"]')).toMatchObject({
    results: [{ 'text/plain': "'1'" }],
  });
  expect(await sandbox.code('x', { context: 'other' })).toMatchObject({
    exitCode: 1,
    error: { type: 'runtime_error' },
  });
  await sandbox.endContext('other');
});

test('files are written, read, listed, moved, copied, described and removed', async () => {
  const { files } = sandbox;
  onTestFailed(async () => {
    for (const path of ['d', 'e']) await files.remove(path).catch(() => undefined);
  });
  await files.mkdir('d');
  await files.mkdir('d');
  await files.write('d/ä b.txt', 'hello');
  expect(await files.read('d/ä b.txt')).toBe('hello');
  expect(await files.read('/workspace/d/ä b.txt', { format: 'bytes' })).toEqual(
    new TextEncoder().encode('hello'),
  );
  await files.move('d/ä b.txt', 'd/c.txt');
  await files.copy('d', 'e');
  expect((await files.list('.', { recursive: true })).map(({ path }) => path)).toEqual(
    expect.arrayContaining(['d', 'd/c.txt', 'e', 'e/c.txt']),
  );
  expect((await files.list('d')).map(({ name }) => name)).toEqual(['c.txt']);
  expect(await files.stat('d/c.txt')).toMatchObject({ path: 'd/c.txt', type: 'file', size: 5 });
  expect(await files.stat('d')).toMatchObject({ type: 'directory' });
  await files.remove('e');
  const missing = await failureOf(files.read('e/c.txt'));
  expect(missing).toBeInstanceOf(SallyportError);
  expect(missing).toMatchObject({ code: 'file_not_found', status: 404, requestId: expect.any(String) });
  for (const path of ['../x', '/etc/passwd', 'a/../../x'])
    expect(await failureOf(Promise.resolve().then(() => files.read(path)))).toMatchObject({
      code: 'path_outside_workspace',
    });
});

test('a large file goes in parts, and a folder as an archive', async () => {
  const { files } = sandbox;
  const large = new Uint8Array(5 * 1_048_576).map((_, index) => index % 251);
  await files.write('large/large.bin', large);
  const archive = await files.download('large');
  await files.upload('copied', archive);
  expect(await files.read('copied/large.bin', { format: 'bytes' })).toEqual(large);
  await files.upload('.', await files.download('.'));
  const stream = await files.read('copied/large.bin', { format: 'stream' });
  expect((await new Response(stream).arrayBuffer()).byteLength).toBe(large.length);
});

test('changes of files are seen as they happen', async () => {
  const abort = new AbortController();
  const seen: string[] = [];
  const ended = failureOf(
    (async () => {
      for await (const { path, kind } of sandbox.files.watch('.', { signal: abort.signal })) {
        seen.push(`${kind} ${path}`);
        if (path === 'seen.txt') abort.abort(new Error('enough'));
      }
    })(),
  );
  const timer = setInterval(() => void sandbox.files.write('seen.txt', String(seen.length)), 500);
  onTestFinished(() => clearInterval(timer));
  expect(await ended).toMatchObject({ message: 'enough' });
  expect(seen.at(-1)).toMatch(/^(created|modified) seen\.txt$/);
});

test('a link needs no token', async () => {
  await sandbox.files.write('linked.txt', 'hello');
  const url = await sandbox.link('linked.txt');
  expect(await (await fetch(url)).text()).toBe('hello');
});

test('sandboxes are found by their id and their labels, changed and stopped', async () => {
  onTestFailed(async () => {
    await sandbox.update({ labels: { of: 'test' } });
  });
  expect((await sallyport.sandboxes.get(sandbox.id)).session).toMatchObject({ labels: { of: 'test' } });
  expect((await sallyport.sandboxes.list({ label: 'of:test' })).map(({ id }) => id)).toEqual([sandbox.id]);
  expect(await sallyport.sandboxes.list({ label: 'of:nothing' })).toEqual([]);
  expect(await sandbox.update({ labels: { of: 'other' } })).toMatchObject({ labels: { of: 'other' } });
  const other = await sallyport.sandboxes.create();
  await other.stop();
  expect(await other.info()).toMatchObject({ status: 'stopped' });
  expect(await failureOf(sallyport.sandboxes.get(crypto.randomUUID()))).toMatchObject({
    code: 'session_not_found',
  });
});

test.each([
  ['over a WebSocket', {}],
  ['without one', { WebSocket: null }],
])('a turn with a call is approved and answered %s', async (_, options) => {
  const session = await new Sallyport({ ...cloud, ...options }).sessions.create({ approvals: 'ask' });
  const types: string[] = [];
  for (const text of ['$ echo one', '$ echo two'])
    for await (const event of session.send(text)) {
      if (event.type !== 'delta' && event.type !== 'tool:progress') types.push(event.type);
      if (event.type !== 'tool:approval_required') continue;
      if (text === '$ echo one') await session.approve(event);
      else await session.reject(event, 'not now');
    }
  expect(types.filter((type) => type === 'completion')).toHaveLength(2);
  expect(types).toEqual(expect.arrayContaining(['tool:approval_required', 'tool:output', 'tool:rejected']));
  const texts = (await session.messages()).map(({ text }) => text);
  expect(texts).toEqual(expect.arrayContaining(['$ echo one', expect.stringContaining('not now')]));
  const second = await failureOf(session.approve({ callId: 'none', digest: '0'.repeat(64) }));
  expect(second).toMatchObject({ status: 409 });
  expect((await sallyport.sessions.get(session.id)).session).toMatchObject({ kind: 'agent' });
  await session.stop();
});

test('a message of an ended session is refused, and an aborted turn ends with the reason', async () => {
  const session = await sallyport.sessions.create({ approvals: 'ask' });
  const abort = new AbortController();
  const follow = async (text: string, signal?: AbortSignal) => {
    for await (const { type } of session.send(text, { signal }))
      if (type === 'tool:approval_required') abort.abort(new Error('enough'));
  };
  expect(await failureOf(follow('$ sleep 60', abort.signal))).toMatchObject({ message: 'enough' });
  await session.cancel();
  await session.stop();
  expect(await failureOf(follow('hello'))).toBeInstanceOf(SallyportError);
});
