/** A shell that leaks descriptors starts the sandbox host: none of them exists inside, whatever runs there. */
import { readdirSync, readlinkSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sandboxProcesses } from '../e2e/sandbox-processes.ts';
import { type HostProgram, startHostProgram } from './host-program.ts';
import type { AttackedSandbox } from './sandbox-fixture.ts';

/** Above the numbers that Node closes at its start, with a gap below, as of `exec {lock}>file`, `flock` and CI runners. */
const leaks = 'exec 60</ 61>"$3/leak" 200> >(cat >/dev/null); exec "$@"';
let host: HostProgram;
let sandbox: AttackedSandbox;

beforeAll(async () => {
  host = await startHostProgram(leaks);
  ({ sandbox } = host);
});
afterAll(() => host.stop());

/** Each as `number=target`, but for the descriptor that lists them. */
const inPython = `
import os
for n in sorted(map(int, os.listdir('/proc/self/fd'))):
    try: print(f'{n}={os.readlink("/proc/self/fd/" + str(n))}', end=' ')
    except OSError: pass
`;
const inNode = `
for (const n of require('node:fs').readdirSync('/proc/self/fd')) {
  try { process.stdout.write(n + '=' + require('node:fs').readlinkSync('/proc/self/fd/' + n) + ' '); } catch {}
}`;

const numbersIn = (text: string): readonly number[] =>
  [...text.matchAll(/(\d+)=/g)].map(([, number]) => Number(number)).toSorted((one, other) => one - other);
/** A pipe of the runner for an output (`sandbox-task/runner/output-pipes.ts`). */
const outputPipe = /\/tmp\/\.output-\w+\/\d+/;
/** The descriptors that an interpreter opens itself, its outputs, and a socket for its input and the channel. */
const own = new RegExp(
  `^(?:anon_inode:\\S+|socket:\\S+|pipe:\\S+|/dev/null|/dev/urandom|${outputPipe.source})$`,
);
const foreignIn = (text: string): readonly string[] =>
  [...text.matchAll(/(\d+)=(\S+)/g)]
    .filter(([, number, target = '']) => Number(number) >= 60 || !own.test(target))
    .map(([pair]) => pair);

test('the host itself has the leaked descriptors', () => {
  const targets = readdirSync(`/proc/${host.process.pid}/fd`).map((fd) => Number(fd));
  expect(targets).toEqual(expect.arrayContaining([60, 61, 200]));
});

test('a command has its three streams and nothing else', async () => {
  await sandbox.call('write_file', { path: 'list.py', content: inPython });
  expect(numbersIn(await sandbox.run('exec python3 list.py'))).toEqual([0, 1, 2]);
  const throughBash = await sandbox.run('python3 list.py');
  expect(numbersIn(throughBash)).toEqual([0, 1, 2]);
  expect(foreignIn(throughBash)).toEqual([]);
});

test('code has these, the channel of its interpreter, and the descriptors that it opened', async () => {
  for (const [language, code] of [
    ['python', inPython],
    ['node', inNode],
  ] as const) {
    const listed = await sandbox.runCode(language, code);
    expect(numbersIn(listed).slice(0, 4)).toEqual([0, 1, 2, 3]);
    expect(foreignIn(listed)).toEqual([]);
  }
});

test('an MCP server has its three streams and nothing else', async () => {
  const code = `import json, os, sys
for line in sys.stdin:
    m = json.loads(line)
    if 'id' not in m: continue
    fds = []
    for n in sorted(map(int, os.listdir('/proc/self/fd'))):
        try: fds.append(f'{n}=' + os.readlink(f'/proc/self/fd/{n}'))
        except OSError: pass
    r = {'protocolVersion': '2025-06-18', 'capabilities': {'tools': {}}, 'serverInfo': {'name': 'm', 'version': '1'}} if m['method'] == 'initialize' else {'content': [{'type': 'text', 'text': ' '.join(fds)}]}
    print(json.dumps({'jsonrpc': '2.0', 'id': m['id'], 'result': r}), flush=True)
`;
  await sandbox.call('write_file', { path: 'server.py', content: code });
  const server = { name: 'listed', command: 'python3', args: ['server.py'] };
  const outcome = await sandbox.call('mcp_call', { server, tool: 'fds', timeout: 20 });
  const text = outcome.status === 'finished' ? JSON.stringify(outcome.content) : outcome.message;
  expect(numbersIn(text)).toEqual([0, 1, 2]);
});

test('no process of the sandbox has them, walls and server included', () => {
  const found = sandboxProcesses(host.home).flatMap(({ pid }) =>
    descriptorsOf(pid).map((fd) => `${fd}=${readlinkSync(`/proc/${pid}/fd/${fd}`)}`),
  );
  const targets = found.filter((pair) => !outputPipe.test(pair));
  expect(targets.length).toBeGreaterThanOrEqual(10);
  expect(targets.filter((pair) => /=\/(?!dev\/)/.test(pair))).toEqual([]);
  expect(targets.filter((pair) => /^(?:60|61|200)=/.test(pair))).toEqual([]);
});

/** Only root is shown those of a process that cannot be traced: bubblewrap and the runner. */
const descriptorsOf = (pid: number): readonly string[] => {
  try {
    return readdirSync(`/proc/${pid}/fd`);
  } catch (cause) {
    if (process.getuid?.() !== 0 && (cause as NodeJS.ErrnoException).code === 'EACCES') return [];
    throw cause;
  }
};
