/** Calls that wait, as the command line client shows and decides them on the real program: the call that was seen runs. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { eventually } from './embedded-cloud.ts';
import { openTerminal } from './pseudo-terminal.ts';
import { compileCache, type Server, startServer } from './server.ts';

const program = join(import.meta.dirname, '..', '..', 'cli', 'sallyport.js');
/** Longer than the program takes a line for one that was on its way. */
const seenMs = 1200;
let server: Server;
let folder: string;
const environment = () => ({
  ...compileCache,
  PATH: '/usr/bin:/bin',
  HOME: folder,
  NO_COLOR: '1',
  SALLYPORT_URL: server.url,
  SALLYPORT_TOKEN: server.token,
});
beforeAll(async () => {
  server = await startServer({ variables: { MSB_DEFAULT_FLAVOR: 'micro' } });
  folder = await mkdtemp(join(tmpdir(), 'sallyport-e2e-approvals-'));
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };

const sallyport = (args: readonly string[], stdin = ''): Promise<Ran> =>
  new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [program, ...args],
      { env: environment(), cwd: folder, maxBuffer: 64 * 1_048_576 },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
    child.stdin?.end(stdin);
  });
const json = async (...args: readonly string[]) => JSON.parse((await sallyport(['--json', ...args])).stdout);

/** Ended with its try: a call that waits in one that failed would be listed and watched in the next. */
const newSession = async (): Promise<string> => {
  const response = await server.request('/api/sessions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ approvals: 'ask' }),
  });
  const { id } = (await response.json()) as { id: string };
  onTestFinished(async () => {
    await server.request(`/api/sessions/${id}`, { method: 'DELETE' });
  });
  return id;
};

type Shown = {
  readonly status: string;
  readonly pendingApprovals?: readonly { callId: string; digest: string }[];
};
const look = async (id: string): Promise<Shown> =>
  (await server.request(`/api/sessions/${id}`)).json() as Promise<Shown>;

/** The call that an agent asks for after a message, once it waits. */
const waitingAfter = async (id: string, message: string) => {
  const said = await sallyport(['sessions', 'message', id], message);
  expect(said).toMatchObject({ code: 0, stderr: '' });
  const { pendingApprovals } = await eventually(
    () => look(id),
    (one) => (one.pendingApprovals?.length ?? 0) > 0,
    60_000,
  );
  return pendingApprovals?.[0] ?? expect.fail('nothing waits');
};
const untilIdle = (id: string) =>
  eventually(
    () => look(id),
    ({ status }) => status === 'idle',
    120_000,
  );

const unmarked = (text: string): string =>
  text.replace(/⟦U\+([0-9A-F]{4,6})⟧/g, (_all, digits) => String.fromCodePoint(Number.parseInt(digits, 16)));

/** The arguments and the digest, from what was printed alone. */
const readShown = (printed: string) => {
  const lines = printed.replace(/\n$/, '').split('\n');
  const fields: { name: string; isText: boolean; lines: string[] }[] = [];
  for (const line of lines.slice(1, -1)) {
    const [, name = '', kind] = /^(\S+) \((text|JSON): /.exec(line) ?? [];
    if (kind !== undefined) fields.push({ name, isText: kind === 'text', lines: [] });
    else fields.at(-1)?.lines.push(line.replace(/^│ /, ''));
  }
  const args = fields.map(({ name, isText, lines: shown }) => {
    const value = unmarked(shown.join('\n'));
    return [name, isText ? value : JSON.parse(value)] as const;
  });
  return { args: Object.fromEntries(args), digest: lines.at(-1)?.replace('digest ', '') };
};

/** JSON in ASCII: the demo provider reads a call from one line. */
const escaped = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const blanks =
  '\u000b\u000c\r\u0085\u00a0\u00ad\u034f\u061c\u070f\u115f\u1160\u1680\u17b4\u17b5\u180b\u180c\u180d\u180e\u180f\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u200c\u200d\u2028\u2029\u202f\u205f\u2060\u2061\u2062\u2063\u2064\u206a\u206f\u2800\u3000\u3164\ufe00\ufe0f\ufeff\uffa0\ufff9\ufffa\ufffb\ufffc\u{13441}\u{13442}\u{16fe4}\u{1bca0}\u{1d159}\u{1d173}\u{e0001}\u{e0020}\u{e0100}';

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `a${index}`);
const printed = (texts: readonly string[]) => ({
  name: 'execute_command',
  args: { args: ['-c', 'printf "%s\\n" "$@" > kept', 'sh', ...texts], command: 'sh' },
});
const kept = (content: string) => ({ name: 'write_file', args: { content, path: 'kept' }, file: content });

test.each([
  ['1 KB', kept('k'.repeat(1000))],
  ['40 KB', kept(`echo safe; : ${'A'.repeat(40_000)} ; touch HIDDEN`)],
  ['900 short strings', { ...printed(numbered(900)), file: `${numbered(900).join('\n')}\n` }],
  // More than the tool takes: it is shown whole and refused whole.
  ['9,000 short strings', { ...printed(numbered(9000)), file: undefined }],
  [
    'marks that turn the direction',
    kept('rm \u202egpj.x\u202c \u200ea\u200f\u061c \u2066b\u2067c\u2068d\u2069'),
  ],
  ['sixty kinds of blanks', kept([...blanks].map((blank) => `rm${blank}x`).join('\n'))],
  ['a text that looks like a mark', kept('a⟦U+200B⟧b\u200b⟦')],
  ['200 KB', kept(`${'lorem ipsum\n'.repeat(17_000)}the end`)],
])(
  '%s: the shown call, the digest and the executed call are the same',
  async (_title, { name, args, file }) => {
    const id = await newSession();
    const { callId } = await waitingAfter(id, `call ${name} ${escaped(args)}`);
    const shown = await sallyport(['approvals', 'show', id, callId]);
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    const read = readShown(shown.stdout);
    expect(read.args).toEqual(args);
    const { turnId } = await json('approvals', 'show', id, callId);
    // The names of these arguments are in order, so their JSON is the canonical one.
    expect(read.digest).toBe(sha256(JSON.stringify({ args, callId, name, turnId })));
    const approved = await sallyport(['approvals', 'approve', id, callId, '--digest', String(read.digest)]);
    expect(approved).toMatchObject({ code: 0, stdout: `Approved ${callId}.\n` });
    await untilIdle(id);
    const got = await sallyport(['files', 'get', id, 'kept', 'kept']);
    expect(got.code).toBe(file === undefined ? 1 : 0);
    if (file !== undefined) expect(sha256(await readFile(join(folder, 'kept'), 'utf8'))).toBe(sha256(file));
  },
);

test('pending calls are listed, another digest decides nothing, and a rejection is recorded with its reason', async () => {
  const id = await newSession();
  const { callId, digest } = await waitingAfter(id, '$ echo one');
  const { approvals } = await json('approvals');
  expect(approvals).toMatchObject([
    { sessionId: id, callId, digest, name: 'execute_command', title: '$ echo one' },
  ]);
  expect((await sallyport(['approvals'])).stdout).toContain('execute_command echo one');
  const wrong = await sallyport(['approvals', 'approve', id, callId, '--digest', '0'.repeat(64)]);
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('(conflict)')]);
  expect((await look(id)).pendingApprovals).toHaveLength(1);
  expect(await sallyport(['approvals', 'reject', id, callId, '--reason', 'not on a Friday'])).toMatchObject({
    code: 0,
  });
  await untilIdle(id);
  const { events } = await json('sessions', 'events', id);
  const decided = events.filter(({ type }: { type: string }) => type === 'tool:decided');
  expect(decided).toMatchObject([{ data: { callId, approved: false, reason: 'not on a Friday', digest } }]);
  expect(events.some(({ type }: { type: string }) => type === 'tool:output')).toBe(false);
  const { messages } = await json('sessions', 'messages', id);
  expect(JSON.stringify(messages)).toContain('The user rejected this call: not on a Friday');
  const { rows } = await json('audit', '--limit', '5');
  expect(rows).toContainEqual(
    expect.objectContaining({ detail: expect.objectContaining({ sessionId: id, callId, approved: false }) }),
  );
  expect(await json('approvals')).toEqual({ approvals: [] });
});

test('a prefix allows later commands until it is withdrawn', async () => {
  const id = await newSession();
  const { callId, digest } = await waitingAfter(id, '$ echo one two');
  await sallyport(['approvals', 'approve', id, callId, '--digest', digest, '--prefix', 'echo one']);
  await untilIdle(id);
  const { grants } = await json('grants', id);
  expect(grants).toMatchObject([{ tool: 'execute_command', prefix: 'echo one' }]);
  await sallyport(['sessions', 'message', id, '$ echo one three']);
  await eventually(
    async () => JSON.stringify(await json('sessions', 'messages', id)),
    (said) => said.includes('gave `one three`'),
    60_000,
  );
  const withdrawn = await sallyport(['grants', 'withdraw', id, grants[0].id]);
  expect(withdrawn.stdout).toContain('execute_command that begins with: echo one');
  await waitingAfter(id, '$ echo one four');
});

const lines = (child: ChildProcess): (() => readonly { sessionId: string; callId: string }[]) => {
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  return () =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
};

test('a watcher prints each new call once', async () => {
  const child = spawn(process.execPath, [program, 'approvals', '--watch', '--json'], {
    env: environment(),
    cwd: folder,
  });
  const exit = once(child, 'exit');
  const heard = lines(child);
  const ids = [await newSession(), await newSession()];
  for (const id of ids) {
    await waitingAfter(id, '$ echo one\n$ echo two');
    await eventually(
      async () => heard(),
      (calls) => calls.some(({ sessionId }) => sessionId === id),
      60_000,
    );
  }
  expect(heard().map(({ sessionId }) => sessionId)).toEqual(ids);
  const [first] = (await look(ids[0] ?? '')).pendingApprovals ?? [];
  await sallyport([
    'approvals',
    'approve',
    ids[0] ?? '',
    first?.callId ?? '',
    '--digest',
    first?.digest ?? '',
  ]);
  await eventually(
    async () => heard(),
    (calls) => calls.length === 3,
    60_000,
  );
  child.kill('SIGINT');
  expect((await exit)[0]).toBe(130);
});

const chatOn = (...args: readonly string[]) =>
  openTerminal([process.execPath, program, 'chat', ...args], { env: environment(), folder });
const prompt = '[l]ater: ';

test('on a terminal, text typed ahead decides nothing and becomes part of the next message', async () => {
  const terminal = chatOn();
  await terminal.until('› ');
  terminal.type('$ touch danger.txt; echo RAN\r');
  terminal.type('also keep it\r');
  terminal.type('y\r');
  terminal.type('always\r');
  await terminal.until('│ touch danger.txt; echo RAN\n');
  await terminal.until(prompt);
  terminal.type('actually wait, stop\r');
  await pause(seenMs);
  terminal.type('no, really, stop\r');
  await terminal.until('Not decided yet');
  await terminal.until(prompt);
  const id = /Session (\S+),/.exec(terminal.text())?.[1] ?? '';
  expect((await look(id)).pendingApprovals).toHaveLength(1);
  await pause(seenMs);
  terminal.type('reject\r');
  await terminal.until('may be empty): ');
  terminal.type('it is dangerous\r');
  await terminal.until('execute_command rejected by');
  await terminal.until('it is dangerous');
  await terminal.until('› also keep it y always actually wait, stop no, really, stop');
  terminal.type('\u0015\u0004');
  expect(await terminal.ended()).toBe(0);
  expect((await json('files', 'ls', id)).files).toEqual([]);
  expect(terminal.text()).not.toContain('\nRAN');
});

test('on a terminal, a call longer than a frame is shown whole and runs as shown', async () => {
  const terminal = chatOn();
  await terminal.until('› ');
  const command = `echo safe; : ${'A'.repeat(40_000)} ; touch HIDDEN`;
  const [id] = /[0-9a-f-]{36}/.exec(terminal.text()) ?? [''];
  // By REST: a terminal takes no line of this length.
  await sallyport(['sessions', 'message', id], `$ ${command}`);
  await terminal.until(prompt);
  expect(terminal.text().replaceAll('\n┆ ', '')).toContain(`│ ${command}\n`);
  await pause(seenMs);
  terminal.type('y\r');
  await terminal.until('execute_command approved by');
  await untilIdle(id);
  expect((await json('files', 'ls', id)).files).toMatchObject([{ name: 'HIDDEN' }]);
  terminal.type('\u0004');
  await terminal.ended();
});
