/** A process with a terminal of its own. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestSandbox, type TestSandbox } from '../sandbox-fixture.ts';
import { output, post, start, textOf } from './process-fixture.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.stop());

const pty = { pty: { cols: 100, rows: 30 } };
const type = (id: string, text: string, query = '') =>
  sandbox.ask('POST', `/processes/${id}/stdin${query}`, { body: text });
const shows = (id: string, text: string) =>
  output(sandbox, id, { isEnough: (_, all) => textOf(all).includes(text) });

test('has the size that was given, and the one it is given later', async () => {
  const id = await start(
    sandbox,
    "stty size; trap 'stty size' WINCH; echo up; while :; do sleep 0.02; done",
    pty,
  );
  expect(textOf(await shows(id, 'up'))).toBe('30 100\r\nup\r\n');
  expect((await post(sandbox, `/processes/${id}/resize`, { cols: 81, rows: 25 })).status).toBe(204);
  await shows(id, '25 81');
  await sandbox.ask('DELETE', `/processes/${id}`);
});

test('a shell at work: it echoes, it runs what is typed, Ctrl-C ends what runs, Ctrl-D ends the shell', async () => {
  const id = await start(sandbox, 'bash', { ...pty, args: ['--norc', '--noprofile'], env: { PS1: '> ' } });
  await shows(id, '> ');
  await type(id, 'echo $((6 * 7)) $TERM; tty\r');
  expect(textOf(await shows(id, '/dev/pts/'))).toContain('42 xterm-256color\r\n/dev/pts/');
  await type(id, "sh -c 'echo begun; exec sleep 600'\r");
  await shows(id, 'begun\r\n');
  await type(id, '\u0003');
  await shows(id, '^C');
  await type(id, 'echo "still $?"\r');
  await shows(id, 'still 130');
  await type(id, '', '?eof=1');
  const events = await output(sandbox, id);
  expect(events.at(-1)).toEqual({ event: 'exit', data: { exitCode: 0 } });
  expect(events.every(({ event, data }) => event !== 'output' || data['stream'] === 'pty')).toBe(true);
});

test('a signal goes to the group in the foreground, and the end is the program’s own', async () => {
  const id = await start(sandbox, 'bash', { ...pty, args: ['--norc', '--noprofile', '-i'] });
  await type(id, "sh -c 'echo begun; exec sleep 600'\r");
  await shows(id, 'begun\r\n');
  // The shell ignores this signal; what it waits for does not.
  await post(sandbox, `/processes/${id}/signal`, { signal: 'SIGTERM' });
  await shows(id, 'Terminated');
  await type(id, 'exit 5\r');
  expect((await output(sandbox, id)).at(-1)).toEqual({ event: 'exit', data: { exitCode: 5 } });
});

test('a program that a signal ends, and one that is not there, end as such', async () => {
  const killed = await start(sandbox, 'kill -9 $$', pty);
  expect((await output(sandbox, killed)).at(-1)?.data).toMatchObject({ exitCode: 137, signal: 'SIGKILL' });
  const absent = await start(sandbox, 'no-such-program', { ...pty, args: ['x'] });
  const events = await output(sandbox, absent);
  expect([textOf(events), events.at(-1)?.data]).toEqual([
    'no-such-program: command not found\n',
    { exitCode: 127 },
  ]);
});

test('a resize of a process without a terminal is refused', async () => {
  const id = await start(sandbox, 'cat');
  expect((await post(sandbox, `/processes/${id}/resize`, { cols: 80, rows: 24 })).status).toBe(400);
  await sandbox.ask('DELETE', `/processes/${id}`);
});
