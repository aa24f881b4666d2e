/** Processes that outlive their request, in a real sandbox. */
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestSandbox, type TestSandbox, waitFor } from '../sandbox-fixture.ts';
import { output, post, runToEnd, show, start, textOf } from './process-fixture.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.stop());

const isNoZombie = (stat: string) => !stat.includes(') Z ');
const touch = (name: string) => writeFile(join(sandbox.workspace, name), '');

describe('a program that is awaited', () => {
  test('gives its result', async () => {
    expect(await runToEnd(sandbox, 'echo out; echo err >&2; exit 3')).toMatchObject({
      ...{ exitCode: 3, signal: null, stdout: 'out\n', stderr: 'err\n', stdoutTruncated: false },
      ...{ stdoutBytes: 4, stderrBytes: 4, durationMs: expect.any(Number) },
    });
  });

  test('has arguments, a folder, variables and an input', async () => {
    const fields = {
      args: ['-c', 'pwd; echo "$A$HOME"; cat'],
      ...{ cwd: 'deep', env: { A: 'a' }, stdin: Buffer.from('typed').toString('base64') },
    };
    await runToEnd(sandbox, 'mkdir -p deep');
    const { stdout } = await runToEnd(sandbox, 'sh', fields);
    expect(stdout).toBe(`${sandbox.workspace}/deep\na${sandbox.workspace}\ntyped`);
  });

  test('runs on when it is not over in time, and has a result later', async () => {
    const id = randomUUID();
    const line = `while [ ! -e ${id} ]; do sleep 0.02; done; echo late`;
    const asked = { id, command: line, waitMs: 1 };
    expect(await post(sandbox, '/processes', asked)).toEqual({ status: 202, body: { processId: id } });
    expect((await sandbox.ask('GET', `/processes/${id}/result`)).status).toBe(409);
    await touch(id);
    expect(await post(sandbox, '/processes', { ...asked, waitMs: 30_000 })).toMatchObject({
      status: 200,
      body: { exitCode: 0, stdout: 'late\n' },
    });
    expect((await sandbox.ask('GET', `/processes/${id}/result`)).status).toBe(200);
  });

  test('keeps the head and the tail of what is too long, to the byte', async () => {
    const { stdout, stdoutBytes, stdoutTruncated } = await runToEnd(sandbox, 'seq 1 300000');
    const whole = Array.from({ length: 300_000 }, (_, index) => `${index + 1}\n`).join('');
    const kept = 256 * 1024;
    const left = whole.length - 2 * kept;
    expect([stdoutBytes, stdoutTruncated]).toEqual([whole.length, true]);
    const cut = `${whole.slice(0, kept)}\n[... ${left} bytes left out ...]\n${whole.slice(-kept)}`;
    expect(stdout === cut).toBe(true);
  });

  test('is killed at its time limit, with the output up to then', async () => {
    expect(await runToEnd(sandbox, 'echo begun; sleep 60', { timeoutMs: 300 })).toMatchObject({
      ...{ exitCode: 124, stdout: 'begun\n', killedFor: 'timeout' },
    });
  });

  test('is killed before it has begun', async () => {
    const ends = await Promise.all(
      Array.from({ length: 10 }, () => runToEnd(sandbox, 'sleep 60', { timeoutMs: 1 })),
    );
    expect(ends).toEqual(ends.map(() => expect.objectContaining({ exitCode: 124, killedFor: 'timeout' })));
  });

  test('is killed beside one of another sandbox that has the same number', async () => {
    const sandboxes = await Promise.all([startTestSandbox(), startTestSandbox()]);
    const [one, other] = sandboxes;
    try {
      const runners = await Promise.all(sandboxes.map(({ pids }) => pids()));
      const id = await start(one, 'sleep 600');
      expect(await runToEnd(other, 'sleep 600', { timeoutMs: 300 })).toMatchObject({ killedFor: 'timeout' });
      expect(await show(one, id)).toMatchObject({ state: 'running' });
      expect(await runToEnd(other, 'echo next')).toMatchObject({ stdout: 'next\n' });
      expect(await Promise.all(sandboxes.map(({ pids }) => pids()))).toEqual(runners);
    } finally {
      await Promise.all(sandboxes.map((started) => started.stop()));
    }
  });

  test.each([
    ['no-such-program', 127, 'no-such-program: command not found\n'],
    ['/', 126, '/: Permission denied\n'],
  ])('that cannot be started says so: %s', async (command, exitCode, stderr) => {
    expect(await runToEnd(sandbox, command, { args: ['x'] })).toMatchObject({ exitCode, stderr });
  });
});

describe('a start that is refused', () => {
  test.each([
    [{ cwd: 'nowhere' }, 404, 'file_not_found'],
    [{ command: '' }, 400, 'invalid_request'],
    [{ env: { 'A-B': 'x' } }, 400, 'invalid_request'],
    [{ pty: { cols: 0, rows: 1 } }, 400, 'invalid_request'],
    [{ unknown: 1 }, 400, 'invalid_request'],
  ])('%o', async (fields, status, code) => {
    const answer = await post(sandbox, '/processes', { id: randomUUID(), command: 'true', ...fields });
    expect([answer.status, answer.body['error']]).toEqual([status, expect.objectContaining({ code })]);
  });

  test('the sixty-fifth that runs', async () => {
    const crowded = await startTestSandbox();
    try {
      await Promise.all(Array.from({ length: 64 }, () => start(crowded, 'sleep 600')));
      const answer = await post(crowded, '/processes', { id: randomUUID(), command: 'true' });
      expect(answer.body).toMatchObject({ error: { code: 'resource_limit_exceeded' } });
    } finally {
      await crowded.stop();
    }
  });
});

describe('a process', () => {
  test('W14: is started once per id', async () => {
    const id = randomUUID();
    const asked = { id, command: `echo started >> ${id}; cat` };
    const answers = await Promise.all([1, 2, 3].map(() => post(sandbox, '/processes', asked)));
    expect(new Set(answers.map(({ body }) => body['pid'])).size).toBe(1);
    await waitFor(async () => (await readFile(join(sandbox.workspace, id), 'utf8')) === 'started\n');
    await sandbox.ask('DELETE', `/processes/${id}`);
  });

  test('reads its input until the end of it', async () => {
    const id = await start(sandbox, 'while read line; do echo "got $line"; done; echo over');
    const write = (body: string, query = '') =>
      sandbox.ask('POST', `/processes/${id}/stdin${query}`, { body });
    expect((await write('one\ntw')).status).toBe(204);
    await write('o\n');
    await write('three\n', '?eof=1');
    expect(textOf(await output(sandbox, id))).toBe('got one\ngot two\ngot three\nover\n');
    expect((await write('more')).status).toBe(409);
    expect(await show(sandbox, id)).toMatchObject({ state: 'exited', exitCode: 0 });
  });

  test('gets signals, with its group', async () => {
    const id = await start(
      sandbox,
      "trap 'echo caught; exit 7' INT; echo ready; while :; do sleep 0.02; done",
    );
    await output(sandbox, id, { isEnough: ({ data }) => data['text'] === 'ready\n' });
    expect((await post(sandbox, `/processes/${id}/signal`, { signal: 'SIGINT' })).status).toBe(204);
    const events = await output(sandbox, id);
    expect(textOf(events)).toBe('ready\ncaught\n');
    expect(events.at(-1)).toEqual({ event: 'exit', data: { exitCode: 7 } });
    expect((await post(sandbox, `/processes/${id}/signal`, { signal: 'SIGINT' })).status).toBe(409);
    expect((await post(sandbox, `/processes/${id}/signal`, { signal: 'KILL' })).status).toBe(400);
  });

  test('is deleted with everything that it has started, whatever that ignores', async () => {
    const [child, parent] = [randomUUID(), randomUUID()];
    const stubborn = `trap '' TERM; setsid sh -c 'echo $$ > ${child}; sleep 600' & echo $$ > ${parent}; sleep 600; sleep 600`;
    const id = await start(sandbox, stubborn);
    const pids = async () =>
      Promise.all([child, parent].map((name) => readFile(join(sandbox.workspace, name), 'utf8')));
    await waitFor(async () => (await pids()).every((pid) => pid.endsWith('\n')));
    expect((await sandbox.ask('DELETE', `/processes/${id}`)).status).toBe(204);
    // Its init may still have to reap them.
    const lives = (pid: string) =>
      readFile(`/proc/${pid.trim()}/stat`, 'latin1').then(isNoZombie, () => false);
    expect(await Promise.all((await pids()).map(lives))).toEqual([false, false]);
    expect(await show(sandbox, id)).toMatchObject({ state: 'exited', exitCode: 137 });
  });

  test('is lost with the runner that had started it', async () => {
    const own = await startTestSandbox();
    try {
      const id = await start(own, 'sleep 600');
      const reading = output(own, id);
      await own.killRunner();
      expect((await reading).at(-1)).toEqual({
        event: 'exit',
        data: { exitCode: null, signal: 'SIGKILL', lost: true },
      });
      expect(await show(own, id)).toMatchObject({ state: 'lost' });
      expect((await own.ask('DELETE', `/processes/${id}`)).status).toBe(204);
      expect(await runToEnd(own, 'echo again')).toMatchObject({ stdout: 'again\n' });
    } finally {
      await own.stop();
    }
  });

  test('that ended before its runner did is deleted like any other', async () => {
    const own = await startTestSandbox();
    try {
      const id = await start(own, 'true');
      await waitFor(async () => (await show(own, id))['state'] === 'exited');
      await own.killRunner();
      await waitFor(async () => (await runToEnd(own, 'echo again'))['stdout'] === 'again\n');
      expect((await own.ask('DELETE', `/processes/${id}`)).status).toBe(204);
    } finally {
      await own.stop();
    }
  });

  test('that has lowered the limit which marks it is deleted, and costs no other its life', async () => {
    const other = await start(sandbox, 'sleep 600');
    const id = await start(sandbox, "ulimit -x 5; trap '' TERM; echo ready; exec sleep 600");
    await output(sandbox, id, { isEnough: ({ data }) => data['text'] === 'ready\n' });
    expect((await sandbox.ask('DELETE', `/processes/${id}`)).status).toBe(204);
    expect(await show(sandbox, id)).toMatchObject({ state: 'exited', exitCode: 137 });
    expect(await show(sandbox, other)).toMatchObject({ state: 'running' });
    await sandbox.ask('DELETE', `/processes/${other}`);
  });

  test('that is not known is not found', async () => {
    for (const [method, rest] of [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/output'],
      ['POST', '/stdin'],
    ] as const)
      expect((await sandbox.ask(method, `/processes/${randomUUID()}${rest}`)).status).toBe(404);
  });
});
