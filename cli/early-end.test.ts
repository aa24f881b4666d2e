import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Routes, startFakeDeployment, type Talk } from './fixtures/fake-deployment.ts';

const end = 'DELETE /api/sessions/s';
const common: Routes = {
  'POST /api/sessions': { status: 201, body: { id: 's' } },
  [end]: { body: { id: 's' } },
};

/** The program as a process, which works and keeps its temporary files in a folder. */
const startProgram = (url: string, args: readonly string[], folder = tmpdir()) =>
  spawn(process.execPath, [join(import.meta.dirname, 'main.ts'), ...args], {
    env: { SALLYPORT_URL: url, SALLYPORT_TOKEN: `sp_${'a1'.repeat(32)}`, TMPDIR: folder },
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });

/** Until it ends, with an output that nobody reads. */
const runUnread = async (url: string, args: readonly string[]) => {
  const program = startProgram(url, args);
  program.stdout.destroy();
  let stderr = '';
  program.stderr.on('data', (chunk) => {
    stderr += String(chunk);
  });
  const [code] = await once(program, 'close');
  return { code, stderr };
};

const progress = (params: object) =>
  `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params })}\n\n`;
const running: Routes = {
  'POST /mcp': ({ body }) =>
    JSON.parse(body).method === 'notifications/cancelled'
      ? { status: 202, body: '' }
      : {
          isOpen: true,
          headers: { 'content-type': 'text/event-stream' },
          body:
            progress({ message: '', _meta: { 'dev.sallyport/sessionId': 's' } }) +
            progress({
              message: 'line\n',
              _meta: { 'dev.sallyport/stream': 'stdout', 'dev.sallyport/offset': 0 },
            }),
        },
};
const answering: Talk = ({ send, onAction }) => {
  send({ type: 'system:ready', data: { lastSeq: -1 } });
  onAction(({ action, messageId }) => {
    if (action !== 'message') return;
    send({ type: 'message', seq: 0, data: { messageId, role: 'user', text: 'x' } });
    send({ type: 'delta', data: { messageId: 'a', offset: 0, text: 'Hello' } });
  });
};
const ran = { stdout: 'out', stderr: '', exitCode: 0, results: [] };

test.each([
  { args: ['exec', '--stop', '--', 'yes'], routes: running, asks: ['POST /mcp', 'POST /mcp'] },
  {
    args: ['code', '--stop', '1'],
    routes: { 'POST /api/sessions/s/code': { body: ran } },
    asks: ['POST /api/sessions', 'POST /api/sessions/s/code'],
  },
  { args: ['chat', '--stop', 'hi'], routes: {}, asks: ['POST /api/sessions'] },
])('$args.0 --stop ends its session when nobody reads its output', async ({ args, routes, asks }) => {
  await using fake = await startFakeDeployment({ ...common, ...routes }, answering);
  expect(await runUnread(fake.url, args)).toEqual({ code: 0, stderr: '' });
  const asked = fake.asked.map(({ route }) => route);
  expect(asked.slice(0, asks.length)).toEqual(asks);
  expect([asked.at(-1), asked.indexOf(end)]).toEqual([end, asked.length - 1]);
});

test('a command that has nothing to end ends at once, without a word', async () => {
  const sessions = { sessions: [] };
  await using fake = await startFakeDeployment({ 'GET /api/sessions?status=active': { body: sessions } });
  expect(await runUnread(fake.url, ['sessions'])).toEqual({ code: 0, stderr: '' });
});

test.each([
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('exec --stop ends its session when it gets %s', async (signal, code) => {
  await using fake = await startFakeDeployment({ ...common, ...running });
  const program = startProgram(fake.url, ['exec', '--stop', '--', 'yes']);
  await once(program.stdout, 'data');
  program.kill(signal);
  expect(await once(program, 'close')).toEqual([code, null]);
  expect(fake.asked.map(({ route }) => route)).toEqual(['POST /mcp', 'POST /mcp', end]);
});

test('exec --stop ends its session when an older Node without a terminal gets SIGINT', async () => {
  await using fake = await startFakeDeployment({ ...common, ...running });
  const older = 'Object.defineProperty(process,"versions",{value:{...process.versions,node:"22.0.0"}})';
  const first = join(import.meta.dirname, 'sallyport.js');
  const args = ['--import', `data:text/javascript,${older}`, first, 'exec', '--stop', '--', 'yes'];
  const program = spawn(process.execPath, args, {
    env: { SALLYPORT_URL: fake.url, SALLYPORT_TOKEN: `sp_${'a1'.repeat(32)}` },
    cwd: tmpdir(),
    stdio: ['ignore', 'pipe', 'pipe'],
    // No terminal sends the signal to both processes.
    detached: true,
  });
  onTestFinished(() => void program.kill('SIGKILL'));
  await once(program.stdout, 'data');
  program.kill('SIGINT');
  expect(await once(program, 'close')).toEqual([130, null]);
  expect(fake.asked.map(({ route }) => route)).toEqual(['POST /mcp', 'POST /mcp', end]);
});

const isOpen = { isOpen: true, body: 'some of it' };

test.each([
  [['files', 'put', 's', 'there', 'here'], 'SIGINT', 130],
  [['files', 'put', 's', 'there', 'here'], 'SIGTERM', 143],
  [['files', 'get', 's', 'a.txt', 'a.txt'], 'SIGINT', 130],
  [['audit', 'export', 'a.json'], 'SIGINT', 130],
] as const)('%j that gets %s leaves no file', async (args, signal, code) => {
  const asked = Promise.withResolvers<void>();
  const answering = () => {
    asked.resolve();
    return isOpen;
  };
  await using fake = await startFakeDeployment({
    'PUT /api/sessions/s/files/there?archive=tar.gz': answering,
    'GET /api/sessions/s/files/a.txt': answering,
    'GET /api/audit/export': answering,
  });
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-early-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, 'here'));
  await writeFile(join(folder, 'here/a'), 'a');
  const program = startProgram(fake.url, args, folder);
  await asked.promise;
  await expect.poll(() => readdir(folder)).toHaveLength(2);
  program.kill(signal);
  expect(await once(program, 'close')).toEqual([code, null]);
  expect(await readdir(folder)).toEqual(['here']);
});
