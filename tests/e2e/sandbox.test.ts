/** Actions on a sandbox through the chat, and its answers. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Server, startServer } from './server.ts';
import { type Client, connect, type Received } from './socket-client.ts';

let server: Server;
let client: Client;
/** In a session of its own, so that the others do not wait for it. */
let sleeper: Client;
beforeAll(async () => {
  server = await startServer();
  [client, sleeper] = await Promise.all([open(), open()]);
  sleeper.send('message', { text: '$ sleep 31; echo woke' });
});
afterAll(() => server.stop());

const open = async (): Promise<Client> => {
  const made = await server.request('/api/sessions', {
    method: 'POST',
    body: JSON.stringify({ approvals: 'auto', flavor: 'micro' }),
  });
  const { id } = (await made.json()) as { id: string };
  const opened = await connect(server, { sessionId: id });
  await opened.untilType('system:ready');
  return opened;
};

let turns = 0;
/** A failed try leaves files, and maybe a turn: the next one has a session of its own. */
afterEach(async ({ task }) => {
  if (task.result?.state !== 'fail') return;
  client = await open();
  turns = 0;
});
/** All frames of one turn. */
const say = async (text: string): Promise<readonly Received[]> => {
  const from = client.frames.length;
  client.send('message', { text });
  await client.untilType('completion', turns);
  turns += 1;
  return client.frames.slice(from);
};

const output = (frames: readonly Received[]): string =>
  frames
    .filter(({ type }) => type === 'tool:output')
    .map(({ data }) => data.content.map((block: { text: string }) => block.text).join(''))
    .join('');

const failure = (frames: readonly Received[]) => frames.find(({ type }) => type === 'agent:error')?.data;

test('output streams while the command runs', async () => {
  const saying = say('$ echo first; until [ -e go ]; do sleep 0.1; done; echo last');
  const { data } = await client.untilType('tool:progress');
  expect(data.text).toBe('first\n');
  const go = await server.request(`/api/sessions/${client.sessionId()}/files/go`, {
    method: 'PUT',
    body: '',
  });
  expect(go.status).toBe(201);
  const frames = await saying;
  const progress = frames.filter(({ type }) => type === 'tool:progress');
  expect(progress.map((frame) => frame.data.text).join('')).toBe('first\nlast\n');
  expect(output(frames)).toContain('first\nlast\n');
});

test('a non-zero exit is a result, and a missing command is 127', async () => {
  expect(output(await say('$ exit 3'))).toContain('3');
  expect(output(await say('$ no-such-program'))).toContain('127');
});

test('files are written, read, listed and fetched', async () => {
  await say('write notes/a.txt hello there');
  expect(output(await say('read notes/a.txt'))).toContain('hello there');
  expect(output(await say('list notes'))).toContain('a.txt');
  const response = await server.request(`/api/sessions/${client.sessionId()}/files/notes/a.txt`);
  expect([response.status, await response.text()]).toEqual([200, 'hello there']);
  expect(response.headers.get('content-disposition')).toContain('attachment');
  const listing = await server.request(`/api/sessions/${client.sessionId()}/files?path=notes`);
  expect(await listing.json()).toMatchObject({ files: [{ name: 'a.txt', type: 'file', size: 11 }] });
});

test('code runs in both languages', async () => {
  expect(output(await say('```python\nprint(6 * 7)\n```'))).toContain('42');
  expect(output(await say('```node\nconsole.log(process.version)\n```'))).toMatch(/v24\./);
});

test('600 MB in a micro sandbox is killed as out of memory, and the next command works', async () => {
  const frames = await say('$ python3 -c "x = bytearray(600 * 1024 * 1024); print(len(x))"');
  expect(failure(frames)).toMatchObject({ code: 'resource_limit_exceeded' });
  expect(failure(frames).message).toMatch(/^Tool execute_command failed: [\s\S]*out of memory/);
  expect(output(await say('$ echo alive'))).toContain('alive');
});

test('a fork bomb ends, and the next command works', async () => {
  await say('$ bomb() { bomb | bomb & }; bomb; sleep 20');
  expect(output(await say('$ echo alive'))).toContain('alive');
});

test('there is no egress and no access to the host', async () => {
  const probe = [
    'cat /etc/shadow /root/.bashrc /proc/1/environ 2>&1',
    'ls /work /home 2>&1',
    '(exec 3<>/dev/tcp/127.0.0.1/22) 2>&1',
    'getent hosts example.com || echo no name',
    'touch /usr/x /etc/x /x /opt/x 2>&1',
    'env | grep -i -E "sandbox_|aws|token" || echo no variables',
    'ls /proc | grep -c "^[0-9]"',
  ].join('; ');
  const text = output(await say(`$ ${probe}`));
  expect(text).toContain('no name');
  expect(text).toContain('no variables');
  expect(text).not.toMatch(/root:\*|SANDBOX_BEARER/);
  expect(text.match(/Read-only file system|Permission denied|No such file/g)?.length).toBeGreaterThan(5);
});

test('31 s of sleep end at 30 s', async () => {
  await sleeper.untilType('completion');
  expect(failure(sleeper.frames)).toMatchObject({ code: 'execution_timeout' });
  expect(JSON.stringify(sleeper.frames)).not.toContain('woke\\n');
});
