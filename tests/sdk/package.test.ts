/** The package as users get it: small, without dependencies, typed, and running on the oldest Node that it names. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findNodes, type InstalledPackage, installPackage } from './installed-package.ts';
import { outputFrom, startWireServer } from './wire-server.ts';

const run = promisify(execFile);
const bytesMax = 17 * 1024;

let installed: InstalledPackage;
beforeAll(async () => {
  installed = await installPackage();
});
afterAll(() => installed[Symbol.asyncDispose]());

/** A module that the first one loads when it is used. */
const partBytesMax = 2 * 1024;

test('it has no dependency, and its code is small', async () => {
  const manifest = JSON.parse(await readFile(installed.path('package.json'), 'utf8'));
  expect(Object.keys(manifest).filter((name) => /dependencies$/i.test(name))).toEqual([]);
  const code = await readFile(installed.path('dist', 'main.js'));
  expect(String(code)).not.toMatch(/\bfrom\s*["']|\bimport\s*["']|\brequire\s*\(/);
  expect(gzipSync(code).length).toBeLessThanOrEqual(bytesMax);
  const parts = [...String(code).matchAll(/\bimport\s*\(([^)]*)\)/g)].map(([, name = '']) =>
    JSON.parse(name),
  );
  expect(parts.toSorted()).toEqual(['./caller-tools.js', './conversation-export.js']);
  for (const part of parts) {
    const partCode = await readFile(installed.path('dist', part));
    expect(gzipSync(partCode).length).toBeLessThanOrEqual(partBytesMax);
    // There is one class of errors.
    const imported = [...String(partCode).matchAll(/\b(?:from|import|require)\s*\(?\s*["']([^"']+)/g)];
    expect(new Set(imported.map(([, name]) => name))).toEqual(new Set(['./main.js']));
  }
});

const program = `
import { Sallyport, SallyportError, type ExecResult, type Session } from '@sallyport/sdk';
const sallyport = new Sallyport({ url: 'http://localhost', token: 't' });
const sandbox = await sallyport.sandboxes.create({ template: 'python', env: { A: '1' }, labels: { a: 'b' } });
const { stdout }: ExecResult = await sandbox.exec('ls', { onStdout: (text) => text.length, timeoutSeconds: 5 });
stdout satisfies string;
(await sandbox.code('1 + 1')).results satisfies readonly object[];
(await sandbox.files.read('a')) satisfies string;
(await sandbox.files.read('a', { format: 'bytes' })) satisfies Uint8Array;
(await sandbox.files.exists('a')) satisfies boolean;
{
  await using _scoped = sandbox;
}
(await sallyport.sandboxes.list({ label: ['a:b', 'c:d'] })) satisfies readonly object[];
const session = await sallyport.sessions.create({ approvals: 'ask' });
session.session?.title satisfies string | undefined;
for await (const event of session.send('Fix the tests'))
  if (event.type === 'tool:approval_required') await session.approve(event);
const listed: readonly Session[] = (await sallyport.request((await import('@sallyport/sdk')).api.listSessions)).sessions;
listed[0]?.status satisfies string | undefined;
const tools = [{ name: 'add', handler: ({ a }: { a: number }) => a + 1 }];
for await (const { type } of session.send('Add', { tools, callerId: 'shop' })) type satisfies string;
// @ts-expect-error: a tool has a handler
session.send('Add', { tools: [{ name: 'add' }] });
// @ts-expect-error: there is no such option
await sallyport.sandboxes.create({ flavour: 'small' });
// @ts-expect-error: a sandbox takes its slot when it starts, and waits for none
await sallyport.sandboxes.create({ waitSeconds: 5 });
// @ts-expect-error: there is no such approvals mode
await sallyport.sessions.create({ approvals: 'sometimes' });
// @ts-expect-error: an exit code is a number
(await sandbox.exec('ls')).exitCode satisfies string;
new SallyportError(0, { code: 'a', message: 'b' }).suggestions satisfies readonly string[];
`;

test.each(['nodenext', 'bundler'])(
  'its types are complete with module resolution %s',
  async (moduleResolution) => {
    await writeFile(join(installed.folder, 'program.ts'), program);
    const compilerOptions = {
      ...{
        strict: true,
        noEmit: true,
        target: 'es2022',
        types: [],
        lib: ['es2022', 'dom', 'dom.asynciterable'],
      },
      ...{ module: moduleResolution === 'nodenext' ? 'nodenext' : 'esnext', moduleResolution },
    };
    const config = { compilerOptions, files: ['program.ts'] };
    await writeFile(join(installed.folder, 'tsconfig.json'), JSON.stringify(config));
    const tsc = join(import.meta.dirname, '..', '..', 'node_modules', 'typescript', 'bin', 'tsc');
    const checked = await run(process.execPath, [tsc, '-p', '.'], { cwd: installed.folder }).catch(
      (error) => error,
    );
    expect(checked.stdout).toBe('');
  },
);

const script = `
import { Sallyport, SallyportError } from '@sallyport/sdk';
const sallyport = new Sallyport();
const sandbox = await sallyport.sandboxes.create();
let live = '';
const result = await sandbox.exec('make', { onStdout: (text) => { live += text; } });
const session = await sallyport.sessions.get('s');
const types = [];
for await (const event of session.send('hello')) types.push(event.type);
const missing = await sandbox.files.read('missing').catch((error) => error);
console.log(JSON.stringify({ live, result: result.exitCode, types, isError: missing instanceof SallyportError, code: missing.code }));
`;

test('it runs on every supported Node of this machine, with and without a WebSocket', async () => {
  await using server = await startWireServer();
  server.on('POST /api/sessions', (_, response) =>
    server.send(response, 201, { id: 's', kind: 'execution' }),
  );
  server.on('POST /exec', (_, response) =>
    server.stream(response, outputFrom([{ stream: 'stdout', text: 'ä\n' }], 0)),
  );
  server.on('POST /messages', ({ body }, response) => {
    const { messageId } = JSON.parse(String(body));
    server.append(
      { type: 'message', data: { messageId, role: 'user', text: 'hello' } },
      { type: 'completion', data: { stopReason: 'end_turn', text: 'done' } },
    );
    server.send(response, 202, { messageId, lastSeq: -1 });
  });
  await writeFile(join(installed.folder, 'program.js'), script);
  const env = { SALLYPORT_URL: server.url, SALLYPORT_TOKEN: 't' };
  const runs = (await findNodes()).flatMap((node) => [[node], [node, '--no-experimental-websocket']]);
  for (const [node = '', ...options] of runs) {
    const { stdout } = await run(node, [...options, 'program.js'], { cwd: installed.folder, env });
    const types = ['message', 'completion'];
    expect(JSON.parse(stdout)).toEqual({ live: 'ä\n', result: 3, types, isError: true, code: 'not_found' });
  }
});
