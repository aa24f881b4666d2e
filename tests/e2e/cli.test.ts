/** The command line client against the real program, started as a user starts it. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compileCache, type Server, startServer } from './server.ts';

const program = join(import.meta.dirname, '..', '..', 'cli', 'sallyport.js');
let server: Server;
let folder: string;
beforeAll(async () => {
  server = await startServer({ variables: { MSB_DEFAULT_FLAVOR: 'micro' } });
  folder = await mkdtemp(join(tmpdir(), 'sallyport-e2e-cli-'));
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };
const wentWell = { code: 0, stderr: '' };

const sallyport = (args: readonly string[], stdin = ''): Promise<Ran> =>
  new Promise((resolve) => {
    const env = { ...compileCache, PATH: '/usr/bin:/bin', HOME: folder };
    const child = execFile(
      process.execPath,
      [program, ...args],
      { env, cwd: folder, maxBuffer: 64 * 1_048_576 },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
    child.stdin?.end(stdin);
  });
const json = async (...args: readonly string[]) => {
  const ran = await sallyport(['--json', ...args]);
  expect(ran.stderr).toBe('');
  return JSON.parse(ran.stdout);
};

test('a new user logs in with the address that npm start prints', async () => {
  // As new as at first: a try that failed may have logged in.
  await rm(join(folder, '.config'), { recursive: true, force: true });
  expect((await sallyport(['sessions'])).stderr).toContain('sallyport login');
  const login = await sallyport(['login', '--url', `${server.url}/#token=${server.token}`]);
  expect([login.code, login.stderr]).toEqual([0, '']);
  expect(await json('whoami')).toMatchObject({ url: server.url, accepted: true, source: 'file' });
  expect(await json('stats')).toMatchObject({ activeSessions: 0 });
});

test('exec returns the streams and the exit code of the program, and keeps the session', async () => {
  expect(await sallyport(['exec', '--', 'echo out; echo err >&2; exit 3'])).toEqual({
    code: 3,
    stdout: 'out\n',
    stderr: 'err\n',
  });
  const first = await json('exec', '--code', 'x = 6 * 7\nopen("f", "w").write("kept")');
  expect(first).toMatchObject({ exit_code: 0, session_created: true });
  const { session_id: id } = first;
  expect(await sallyport(['exec', '--session', id, '--', 'cat', 'f'])).toMatchObject({ stdout: 'kept' });
  expect((await sallyport(['exec', '--session', id, '--code', '-'], 'print(1 + 1)')).stdout).toBe('2\n');
  const large = await sallyport(['exec', '--session', id, '--', 'seq 1 30000']);
  expect(large.stdout.split('\n')).toHaveLength(30_001);
  const { code, stderr } = await sallyport(['exec', '--flavor', 'gigantic', '--', 'true']);
  expect([code, stderr]).toEqual([1, expect.stringContaining('(invalid_flavor)')]);
  const listed = await sallyport(['sessions']);
  expect(listed.stdout).toContain(id);
  expect(await sallyport(['stop', id])).toMatchObject({ code: 0, stdout: `Stopped ${id}.\n` });
  expect((await sallyport(['sessions'])).stdout).not.toContain(id);
});

test('one message gives one answer, with the requested approval mode', async () => {
  const auto = await sallyport(['chat', '--approvals', 'auto', '$ echo one; printf "\\033[31mtwo"']);
  expect(auto).toMatchObject({ code: 0, stdout: expect.stringContaining('one\ntwo') });
  expect(auto.stdout).not.toContain('\x1b');
  const asked = await json('chat', '--yes', '$ echo three');
  expect(asked).toMatchObject({ stopReason: 'end_turn', text: expect.stringContaining('three') });
  const again = await sallyport(['chat', '--session', asked.sessionId], '$ echo four');
  expect(again.stdout).toContain('was rejected');
  expect(again.stderr).toContain('there is no terminal to ask');
  const { events } = await json('sessions', 'events', asked.sessionId);
  expect(events.map(({ index }: { index: number }) => index)).toEqual(
    events.map((_: unknown, at: number) => at),
  );
  expect(await json('sessions', 'get', asked.sessionId)).toMatchObject({ kind: 'agent', status: 'idle' });
  expect(await sallyport(['sessions', 'logs', asked.sessionId])).toMatchObject(wentWell);
  const gone = await sallyport(['chat', '--session', crypto.randomUUID(), 'hi']);
  expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining('(session_not_found)')]);
});

test('folders are uploaded, changed, listed and downloaded', async () => {
  await mkdir(join(folder, 'tree/sub'), { recursive: true });
  await writeFile(join(folder, 'tree/sub/ü.txt'), 'hello');
  const { session_id: id } = await json('exec', '--', 'true');
  expect(await sallyport(['files', 'put', id, 'tree'])).toMatchObject(wentWell);
  expect(await sallyport(['files', 'mkdir', id, 'made/deep'])).toMatchObject(wentWell);
  expect(await sallyport(['files', 'mv', id, 'tree', 'made/tree'])).toMatchObject(wentWell);
  expect(await sallyport(['files', 'cp', id, 'made/tree/sub/ü.txt', 'made/copy'])).toMatchObject(wentWell);
  expect((await sallyport(['files', 'cp', id, 'made/copy', 'made/tree/sub/ü.txt'])).stderr).toContain(
    'conflict',
  );
  const { files } = await json('files', 'ls', id, 'made', '-R');
  expect((files as { path: string }[]).map(({ path }) => path)).toEqual([
    'made/copy',
    'made/deep',
    'made/tree',
    'made/tree/sub',
    'made/tree/sub/ü.txt',
  ]);
  expect(await sallyport(['files', 'get', id, 'made/tree', 'back', '-r'])).toMatchObject(wentWell);
  expect(await readFile(join(folder, 'back/sub/ü.txt'), 'utf8')).toBe('hello');
  const { url } = await json('files', 'link', id, 'made/copy', '--expires', '60');
  expect(await (await fetch(String(url))).text()).toBe('hello');
});

test('files are uploaded and downloaded byte for byte', async () => {
  const { session_id: id } = await json('exec', '--', 'mkdir d');
  const bytes = randomBytes(5 * 1_048_576);
  await writeFile(join(folder, 'large.bin'), bytes);
  expect(await sallyport(['files', 'put', id, 'd/large ü.bin', 'large.bin'])).toMatchObject(wentWell);
  const { files } = await json('files', 'ls', id, 'd');
  expect(files).toMatchObject([{ name: 'large ü.bin', size: bytes.length }]);
  expect(await sallyport(['files', 'get', id, 'd/large ü.bin', 'back.bin'])).toMatchObject(wentWell);
  expect(bytes.equals(await readFile(join(folder, 'back.bin')))).toBe(true);
  await sallyport(['files', 'put', id, 'small.txt', '-'], 'from a pipe');
  expect((await sallyport(['files', 'get', id, 'small.txt'])).stdout).toBe('from a pipe');
  expect(await sallyport(['files', 'rm', id, 'small.txt'])).toMatchObject(wentWell);
  const missing = await sallyport(['files', 'get', id, 'small.txt', 'x']);
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('(file_not_found)')]);
  await sallyport(['stop', id]);
});

test('projects are created and shown', async () => {
  const { id } = await json('projects', 'create', 'from the shell', '--template', 'node');
  expect(await json('projects', 'get', id)).toMatchObject({ name: 'from the shell', template: 'node' });
  expect((await sallyport(['projects', 'list'])).stdout).toContain('from the shell');
});
