/** The program as a user starts it: a process of its own, its output, its exit codes. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { openTerminal } from '../tests/e2e/pseudo-terminal.ts';
import { sandboxProcesses } from '../tests/e2e/sandbox-processes.ts';

const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});

const makeHome = () => mkdtemp(join(tmpdir(), 'sallyport-main-'));

type Run = { readonly child: ChildProcess; readonly out: () => string; readonly err: () => string };

const mainFile = join(import.meta.dirname, 'main.ts');
/** No start of a test installs packages. */
const quiet = { SALLYPORT_INSTALL_PACKAGES: 'false' };
const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', PORT: '0', TMPDIR: tmpdir(), ...quiet };

const run = (variables: Record<string, string>, flags: readonly string[] = []): Run => {
  const child = spawn(process.execPath, [mainFile, ...flags], {
    env: { ...environment, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own, as a shell makes one.
    detached: true,
  });
  children.push(child);
  const texts = { out: '', err: '' };
  child.stdout.on('data', (chunk) => {
    texts.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    texts.err += chunk;
  });
  return { child, out: () => texts.out, err: () => texts.err };
};

const untilReady = (program: Run): Promise<string> =>
  vi.waitFor(
    () => {
      const url = /^Sallyport is ready at (http:\/\/127\.0\.0\.1:\d+)$/m.exec(program.out())?.[1];
      if (url === undefined) throw new Error(`not ready: ${program.out()}${program.err()}`);
      return url;
    },
    { timeout: 60_000, interval: 20 },
  );

const exitOf = async ({ child }: Run): Promise<number | null> =>
  child.exitCode ?? ((await once(child, 'close'))[0] as number | null);

const token = /^sp_[0-9a-f]{64}$/;

test('it starts, answers, keeps its token, and exits with 0 on SIGTERM', async () => {
  const home = await makeHome();
  const program = run({ SALLYPORT_HOME: home });
  const url = await untilReady(program);
  expect(await (await fetch(`${url}/health`)).json()).toEqual({ status: 'ok' });
  const kept = (await readFile(join(home, 'token'), 'utf8')).trim();
  expect(kept).toMatch(token);
  expect((await stat(join(home, 'token'))).mode & 0o777).toBe(0o600);
  expect(program.out()).toContain(`Open ${url}/#token=${kept}\n`);
  program.child.kill('SIGTERM');
  expect(await exitOf(program)).toBe(0);

  const again = run({ SALLYPORT_HOME: home });
  await untilReady(again);
  expect(again.out()).toContain(kept);
  again.child.kill('SIGINT');
  expect(await exitOf(again)).toBe(0);
});

/** As a terminal does, and once more, as npm does: the whole group gets it. */
const pressCtrlC = ({ child: { pid = 0 } }: Run): void => {
  process.kill(-pid, 'SIGINT');
  process.kill(pid, 'SIGINT');
};

const askerOf = (url: string, key: string) => (path: string, init?: RequestInit) =>
  fetch(`${url}${path}`, { ...init, headers: { authorization: `Bearer ${key}` } });

/** A program of a session has written a file since the last save. */
const writeUnsaved = async (ask: ReturnType<typeof askerOf>): Promise<string> => {
  const send = (path: string, body: object) => ask(path, { method: 'POST', body: JSON.stringify(body) });
  const made = await send('/api/sessions', { kind: 'execution', flavor: 'micro' });
  const { id } = (await made.json()) as { id: string };
  const command = 'printf kept > late; exec sleep 600';
  expect((await send(`/api/sessions/${id}/processes`, { command })).status).toBe(201);
  const file = `/api/sessions/${id}/files/late`;
  await expect.poll(async () => (await ask(file)).status, { timeout: 60_000 }).toBe(200);
  return file;
};

test('Ctrl-C saves what a program of a sandbox has written, before all ends', async () => {
  const variables = { SALLYPORT_HOME: await makeHome(), SALLYPORT_TOKEN: `sp_${'ab'.repeat(32)}` };
  const first = run(variables);
  const file = await writeUnsaved(askerOf(await untilReady(first), variables.SALLYPORT_TOKEN));
  pressCtrlC(first);
  expect([await exitOf(first), first.out()]).toEqual([0, expect.stringMatching(/\nStopping\n$/)]);
  expect(first.err()).toBe('');
  expect(sandboxProcesses(variables.SALLYPORT_HOME)).toEqual([]);
  const second = run(variables);
  const ask = askerOf(await untilReady(second), variables.SALLYPORT_TOKEN);
  expect(await (await ask(file)).text()).toBe('kept');
});

test('a terminal that is closed ends it as Ctrl-C does, although it takes no line', async () => {
  const home = await makeHome();
  const variables = { SALLYPORT_HOME: home, SALLYPORT_TOKEN: `sp_${'ab'.repeat(32)}` };
  const env = { ...environment, ...variables };
  const terminal = openTerminal([process.execPath, mainFile], { env, folder: tmpdir() });
  onTestFinished(terminal.close);
  await terminal.until('Stop with Ctrl-C.');
  const url = /ready at (\S+)/.exec(terminal.text())?.[1] ?? '';
  const file = await writeUnsaved(askerOf(url, variables.SALLYPORT_TOKEN));
  terminal.close();
  const isLocked = (): boolean => existsSync(join(home, 'lock'));
  await vi.waitFor(() => expect(isLocked()).toBe(false), { timeout: 60_000, interval: 50 });
  const ask = askerOf(await untilReady(run(variables)), variables.SALLYPORT_TOKEN);
  expect(await (await ask(file)).text()).toBe('kept');
});

test('a second signal ends it at once, while it waits for a save', async () => {
  const variables = { SALLYPORT_HOME: await makeHome(), SALLYPORT_TOKEN: `sp_${'ab'.repeat(32)}` };
  const program = run(variables);
  await writeUnsaved(askerOf(await untilReady(program), variables.SALLYPORT_TOKEN));
  for (const { pid } of sandboxProcesses(variables.SALLYPORT_HOME)) process.kill(pid, 'SIGSTOP');
  pressCtrlC(program);
  await vi.waitFor(() => expect(program.out()).toMatch(/\nStopping\n$/), { timeout: 60_000 });
  await delay(1000);
  program.child.kill('SIGTERM');
  expect([await exitOf(program), program.out()]).toEqual([1, expect.stringMatching(/\nStopping\n$/)]);
  await vi.waitFor(() => expect(sandboxProcesses(variables.SALLYPORT_HOME)).toEqual([]), { timeout: 60_000 });
});

test('the flag takes precedence over the variable, and a given token is not stored', async () => {
  const home = await makeHome();
  const given = `sp_${'ab'.repeat(32)}`;
  const program = run({ SALLYPORT_HOME: '/nowhere', SALLYPORT_TOKEN: given }, ['--dir', home]);
  const url = await untilReady(program);
  expect(program.out()).toContain(`Open ${url}/#token=${given}\n`);
  await expect(stat(join(home, 'token'))).rejects.toThrow('ENOENT');
});

test('a second start over the same folder is refused in one line that names the process', async () => {
  const home = await makeHome();
  const first = run({ SALLYPORT_HOME: home });
  await untilReady(first);
  const second = run({ SALLYPORT_HOME: home });
  expect(await exitOf(second)).toBe(1);
  expect(second.err()).toBe(
    `${home} is in use by process ${first.child.pid}: stop it, or name another folder with --dir\n`,
  );
});

test('after a SIGKILL no process is left and the folder can be used again', async () => {
  const home = await makeHome();
  const killed = run({ SALLYPORT_HOME: home });
  await untilReady(killed);
  killed.child.kill('SIGKILL');
  await exitOf(killed);
  const users = () => spawnSync('pgrep', ['-f', '-r', 'R,S,D', home], { encoding: 'utf8' }).stdout;
  await vi.waitFor(() => expect(users()).toBe(''), { timeout: 50_000 });
  await untilReady(run({ SALLYPORT_HOME: home }));
});

test('an invalid value stops the start with one line', async () => {
  const program = run({ SALLYPORT_HOME: await makeHome(), PORT: '70000' });
  expect(await exitOf(program)).toBe(1);
  expect(program.err()).toBe('PORT="70000" is not allowed: set it to a whole number from 0 to 65535\n');
});

test.each([
  ['SALLYPORT_HOME', (file: string) => run({ SALLYPORT_HOME: file })],
  ['--dir', (file: string) => run({}, ['--dir', file])],
])('%s that is a file stops the start with one line', async (name, start) => {
  const file = join(await makeHome(), 'file');
  await writeFile(file, '');
  const program = start(file);
  expect(await exitOf(program)).toBe(1);
  expect(program.err()).toBe(
    `${name}="${file}" cannot be used: set it to a folder that exists or can be created\n`,
  );
});

test.runIf(process.getuid?.() === 0)(
  'as root walls that a user of sandboxes cannot build stop the start with one line',
  async () => {
    const closed = await makeHome();
    for (const engine of ['docker', 'podman']) {
      await writeFile(join(closed, engine), '#!/bin/sh\nexit 1\n');
      await chmod(join(closed, engine), 0o755);
    }
    const path = `${closed}:${environment.PATH}`;
    const program = run({ SALLYPORT_HOME: await makeHome(), TMPDIR: closed, PATH: path });
    expect(await exitOf(program)).toBe(1);
    expect(program.err()).toMatch(
      /^sandboxes cannot run: bubblewrap failed with "bwrap: [^\n]*Permission denied": [^\n]*, or start Podman, [^\n]*\n$/,
    );
  },
);

test('a port that is in use stops the start with one line', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as { port: number };
  const program = run({ SALLYPORT_HOME: await makeHome(), PORT: String(port) });
  expect(await exitOf(program)).toBe(1);
  expect(program.err()).toBe(
    `port ${port} is already in use: stop the program that listens there, or set PORT to another (PORT=0 picks a free one)\n`,
  );
  taken.close();
});

test.each([
  ['an unknown flag', ['--folder', 'x']],
  ['a flag without its value', ['--dir']],
  ['an empty folder, which would be the working one,', ['--dir', '']],
])('%s prints the usage', async (_what, flags) => {
  const program = run({ SALLYPORT_HOME: await makeHome() }, flags);
  expect(await exitOf(program)).toBe(1);
  expect(program.err()).toBe('usage: npm start [-- --dir <data folder>]\n');
});

test('a lock of a process that has ended is taken over', async () => {
  const home = await makeHome();
  const ended = spawnSync('true');
  await writeFile(join(home, 'lock'), JSON.stringify({ pid: ended.pid, startedAt: '1' }));
  await untilReady(run({ SALLYPORT_HOME: home }));
});
