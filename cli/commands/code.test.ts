/** `code`: what is sent, what is printed, and which files are written. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Routes, refusal, startFakeDeployment } from '../fixtures/fake-deployment.ts';
import { logIn } from '../fixtures/logged-in.ts';
import { makeMachine } from '../fixtures/run-cli.ts';

const png = Buffer.from('a picture').toString('base64');
const result = {
  exitCode: 0,
  stdout: 'printed\n',
  stderr: 'warned\n',
  durationMs: 3,
  results: [{ 'image/png': png }, { 'text/plain': '[1]', 'application/json': [1] }],
};

const open = async (routes: Routes) => {
  const deployment = await startFakeDeployment(routes);
  onTestFinished(() => deployment[Symbol.asyncDispose]());
  const { url, asked } = deployment;
  const machine = await makeMachine({ SALLYPORT_URL: url, SALLYPORT_TOKEN: `sp_${'1'.repeat(64)}` });
  return { ...machine, asked };
};

test('output and results are printed, and each form of a result is saved', async () => {
  const { run, asked, folder } = await open({ 'POST /api/sessions/s/code': { body: result } });
  const options = ['--session', 's', '--context', 'a', '--language', 'node', '--save', 'out'];
  const { code, stdout, stderr } = await run(['code', ...options, '[1]']);
  expect([code, stdout]).toEqual([0, 'printed\n[image/png]\n[1]\n']);
  expect(stderr).toMatch(/^warned\n/);
  expect(JSON.parse(asked[0]?.body ?? '')).toEqual({ code: '[1]', context: 'a', language: 'node' });
  expect(await readFile(join(folder, 'out/1/image.png'), 'utf8')).toBe('a picture');
  expect(JSON.parse(await readFile(join(folder, 'out/2/application.json'), 'utf8'))).toEqual([1]);
});

test('forms that are no text are bytes, and none is written over another one', async () => {
  const results = [
    {
      'application/pdf': png,
      'image/svg+xml': '<svg/>',
      'application/javascript': 'f()',
      'application/json': { a: 1 },
      'application/geo+json': { b: 2 },
    },
  ];
  const { run, folder } = await open({ 'POST /api/sessions/s/code': { body: { ...result, results } } });
  expect((await run(['code', '--session', 's', '--save', 'out', '1'])).code).toBe(0);
  const saved = join(folder, 'out/1');
  const contents = (await readdir(saved)).map(async (name) => [
    name,
    await readFile(join(saved, name), 'utf8'),
  ]);
  expect(Object.fromEntries(await Promise.all(contents))).toEqual({
    'application.pdf': 'a picture',
    'image.svg': '<svg/>',
    'application.javascript': 'f()',
    'application.json': '{\n  "a": 1\n}',
    'application.geo+json': '{\n  "b": 2\n}',
  });
});

test('code from stdin runs in a new session, which --stop ends', async () => {
  const { run, asked } = await open({
    'POST /api/sessions': { status: 201, body: { id: 's' } },
    'POST /api/sessions/s/code': { body: { ...result, exitCode: 3, results: [] } },
    'DELETE /api/sessions/s': { body: { id: 's' } },
  });
  const { code, stdout } = await run(['code', '--json', '--stop', '--env', 'A=b=c', '--env', 'EMPTY='], {
    stdin: 'exit(3)',
  });
  expect(code).toBe(3);
  expect(JSON.parse(stdout)).toMatchObject({ sessionId: 's', exitCode: 3 });
  expect(JSON.parse(asked[0]?.body ?? '')).toEqual({ kind: 'execution', env: { A: 'b=c', EMPTY: '' } });
  expect(asked.map(({ route }) => route)).toEqual([
    'POST /api/sessions',
    'POST /api/sessions/s/code',
    'DELETE /api/sessions/s',
  ]);
});

test('a session is changed by what is named, and by nothing else', async () => {
  const { run, asked } = await open({ 'PATCH /api/sessions/s': { body: { id: 's' } } });
  const change = ['--label', 'team:red', '--label', 'run:', '--idle', '60', '--unarchive'];
  expect((await run(['sessions', 'update', 's', ...change])).code).toBe(0);
  expect(JSON.parse(asked[0]?.body ?? '')).toEqual({
    labels: { team: 'red', run: '' },
    idleSeconds: 60,
    archived: false,
  });
  expect((await run(['sessions', 'update', 's'])).code).toBe(2);
  expect((await run(['sessions', 'update', 's', '--label', 'red'])).stderr).toContain('key:value');
});

test('a failure that comes after the status is a failure', async () => {
  const body = ` ${JSON.stringify(refusal('sandbox_starting', 'the sandbox is still starting'))}`;
  const { run } = await open({ 'POST /api/sessions/s/code': { body } });
  const { code, stderr } = await run(['code', '--session', 's', '1']);
  expect(code).toBe(1);
  expect(stderr).toContain('the sandbox is still starting');
});

test('Ctrl-C leaves code that runs, and --stop ends its session then, too', async () => {
  await using there = await logIn({
    'POST /api/sessions': { status: 201, body: { id: 's1' } },
    // An answer that does not end.
    'POST /api/sessions/s1/code': { body: '{', headers: { 'content-length': '1000' } },
    'DELETE /api/sessions/s1': { body: { id: 's1' } },
  });
  const terminal = there.at(['code', '--stop', 'while True: pass']);
  const routes = () => there.fake.asked.map(({ route }) => route);
  await expect.poll(routes, { timeout: 50_000 }).toContain('POST /api/sessions/s1/code');
  terminal.interrupt();
  expect(await terminal.code).toBe(130);
  expect([routes().at(-1), terminal.text()]).toEqual([
    'DELETE /api/sessions/s1',
    expect.stringContaining('(interrupted)'),
  ]);
});

test.each([
  ['code', '1'],
  ['chat', 'hi'],
])('Ctrl-C while %s --stop makes its session ends that', async (name, text) => {
  let interrupt = (): void => undefined;
  await using there = await logIn({
    'POST /api/sessions': () => {
      interrupt();
      return { status: 201, body: { id: 's1' } };
    },
    'POST /api/sessions/s1/code': { body: result },
    'DELETE /api/sessions/s1': { body: { id: 's1' } },
  });
  const terminal = there.at([name, '--stop', text]);
  interrupt = terminal.interrupt;
  expect(await terminal.code).toBe(130);
  const routes = there.fake.asked.map(({ route }) => route);
  expect(routes).toEqual(['POST /api/sessions', 'DELETE /api/sessions/s1']);
});
