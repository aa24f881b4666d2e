/** The interpreters as a caller of `execute_code` meets them, with real Python and Node. W12 of docs/spec/sandbox.md. */
import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestSandbox, type TestSandbox, type ToolResult, waitFor } from './sandbox-fixture.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.stop());

type Language = 'python' | 'node';
type Fields = Readonly<Record<string, unknown>>;
const call = (language: Language, code: string, timeout = 20): Promise<ToolResult> =>
  sandbox.callTool('execute_code', { language, code, timeout });
const run = async (language: Language, code: string, timeout?: number): Promise<Fields> => {
  const {
    execution_time_ms: _,
    cpu_ms: __,
    // The subject of code-results.test.ts.
    value: ___,
    ...rest
  } = (await call(language, code, timeout)).structuredContent as Fields;
  return rest;
};
const print = async (language: Language, code: string): Promise<unknown> =>
  (await run(language, code))['stdout'];
const fine = (stdout = '') => ({ stdout, stderr: '', exit_code: 0 });

test('W12: Python keeps variables, functions and imports', async () => {
  expect(await run('python', 'import math\nx = 41\ndef f(): return x + 1')).toEqual(fine());
  expect(await run('python', 'print(x + 1, f(), math.floor(1.5))')).toEqual(fine('42 42 1\n'));
  expect(await run('python', 'import asyncio\nprint(await asyncio.sleep(0, 7))\n8')).toEqual(fine('7\n'));
  expect(
    await print('python', 'import pickle\nclass C: pass\nprint(type(pickle.loads(pickle.dumps(C()))) is C)'),
  ).toBe('True\n');
});

test('W12: Node keeps let, const, functions and classes, and allows their redeclaration', async () => {
  expect(
    await run('node', 'let x = 41; const y = 1; class A { n() { return 2 } } function f() { return x }'),
  ).toEqual(fine());
  expect(await run('node', 'console.log(x + y, new A().n(), f())')).toEqual(fine('42 2 41\n'));
  expect(await run('node', 'const x = 5\nlet y = 6\nlet f = () => 7\nclass A {}')).toEqual(fine());
  expect(await run('node', 'function f() { return 8 }\nfunction x() { return 9 }')).toEqual(fine());
  expect(await run('node', 'console.log(f(), x(), y)')).toEqual(fine('8 9 6\n'));
});

test('Node supports module syntax and top-level await, and waits for pending work', async () => {
  await run('node', 'fs.writeFileSync("m.mjs", "export default 3; export const four = 4")');
  expect(
    await run(
      'node',
      'import three, { four as vier } from "./m.mjs"\nimport { basename } from "node:path"\nconsole.log(three, vier, basename("/a/b"))',
    ),
  ).toEqual(fine('3 4 b\n'));
  expect(
    await run('node', 'console.log((await import("./m.mjs")).four, require("os").EOL === "\\n")'),
  ).toEqual(fine('4 true\n'));
  expect(await print('node', 'setTimeout(() => console.log("later"), 30)')).toBe('later\n');
  expect(await print('node', 'const server = http.createServer().listen(0); console.log("up")')).toBe('up\n');
  expect(await print('node', 'console.log(server.listening); server.close()')).toBe('true\n');
  expect(await run('node', 'await new Promise(() => {})')).toMatchObject({ exit_code: 13 });
});

test('output of child processes belongs to the call, and a program cannot write to descriptor 3', async () => {
  const python = 'import os, subprocess\nprint("a")\nsubprocess.run(["echo", "b"])\nos.system("echo c >&2")';
  expect(await run('python', python)).toEqual({ stdout: 'a\nb\n', stderr: 'c\n', exit_code: 0 });
  const node =
    'console.log("a"); child_process.execSync("echo b; ls -l /proc/$$/fd | grep -c output-", { stdio: "inherit" })';
  expect(await print('node', node)).toBe('a\nb\n2\n');
  expect(await print('python', 'subprocess.run("echo x >&3", shell=True, stderr=subprocess.DEVNULL)')).toBe(
    '',
  );
  expect(
    await print('python', 'if os.fork() == 0: print("child")\nelse:\n  os.wait()\n  print("parent")'),
  ).toBe('child\nparent\n');
});

test('output of a background thread after its call appears in no later call that it does not overlap', async () => {
  const code =
    'import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.3), print("late"))).start()';
  expect(await run('python', code)).toEqual(fine());
  await delay(600);
  expect(await run('python', 'print("next")')).toEqual(fine('next\n'));
});

test('an error prints the plain interpreter’s message, without internal frames', async () => {
  expect(await run('python', 'def f():\n  return 1 / 0\nf()')).toEqual({
    stdout: '',
    stderr: expect.stringMatching(
      /^Traceback \(most recent call last\):\n {2}File "<python-\d+>", line 3, in <module>\n {4}f\(\)\n {2}File "<python-\d+>", line 2, in f\n {4}return 1 \/ 0\n[ ~^]*\n?ZeroDivisionError: division by zero\n$/,
    ),
    exit_code: 1,
    error_line: 'ZeroDivisionError: division by zero',
  });
  expect(await run('node', 'function f() {\n  null.x\n}\nf()')).toEqual({
    stdout: '',
    stderr: expect.stringMatching(
      /^TypeError: Cannot read properties of null \(reading 'x'\)\n {4}at f \(node-\d+:2:8\)\n {4}at node-\d+:4:1\n$/,
    ),
    exit_code: 1,
    error_line: "TypeError: Cannot read properties of null (reading 'x')",
  });
  expect(await run('python', 'x = (')).toMatchObject({
    exit_code: 1,
    error_line: "SyntaxError: '(' was never closed",
  });
  expect(await run('node', 'let z = ;')).toMatchObject({
    exit_code: 1,
    stderr: expect.stringMatching(/^node-\d+:1\nlet z = ;\n {8}\^\n\nSyntaxError: Unexpected token ';'\n$/),
    error_line: "SyntaxError: Unexpected token ';'",
  });
  for (const code of [
    'Promise.reject(new RangeError("late"))',
    'setTimeout(() => { throw new RangeError("late") })',
  ])
    expect(await run('node', code)).toMatchObject({ exit_code: 1, error_line: 'RangeError: late' });
});

test.each([
  ['python', 'kept = 1', 'import sys; sys.exit(3)', 'print(kept)'],
  ['python', 'kept = 1', 'sys.exit("why")', 'print(kept)'],
  [
    'node',
    'let kept = 1',
    'try { process.exit(3) } catch {} finally { console.log("no") }',
    'console.log(kept)',
  ],
  [
    'node',
    'let kept = 1',
    'setTimeout(() => process.exit(3)); await new Promise(() => {})',
    'console.log(kept)',
  ],
] as const)('W12: %s ends a call with an exit code and keeps its state (%s; %s)', async (...row) => {
  const [language, first, exit, last] = row;
  await run(language, first);
  const ended = await run(language, exit);
  expect([ended['stdout'], ended['exit_code'], ended['state_lost']]).toEqual([
    '',
    exit.includes('why') ? 1 : 3,
    undefined,
  ]);
  expect(await run(language, last)).toEqual(fine('1\n'));
});

test.each([
  ['python', 'while True: pass'],
  ['python', 'import time\ntime.sleep(600)'],
  ['python', 'import os\nos.system("sleep 600")\nwhile True: pass'],
  ['node', 'for (;;) {}'],
  ['node', 'try { for (;;) {} } finally { console.log("no") }'],
  ['node', 'for (;;) { await new Promise((resolve) => setTimeout(resolve, 10)) }'],
  ['node', 'child_process.execSync("sleep 600")'],
] as const)('W12: %s that times out is interrupted, and keeps its state (%s)', async (language, code) => {
  await run(language, language === 'python' ? 'kept = 1' : 'let kept = 1');
  const late = await run(language, code, 1);
  expect(late).toMatchObject({
    stdout: '',
    exit_code: null,
    error: { type: 'execution_timeout', message: 'timed out after 1 s' },
  });
  expect(late).not.toHaveProperty('state_lost');
  expect(await print(language, language === 'python' ? 'print(kept)' : 'console.log(kept)')).toBe('1\n');
});

test.each([
  [
    'python',
    'import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass',
    'print("kept" in globals())',
    'False\n',
  ],
  ['node', 'await 1; for (;;) {}', 'console.log(typeof kept)', 'undefined\n'],
] as const)('W12: %s that does not stop is killed, which is reported once', async (...row) => {
  const [language, code, look, lost] = row;
  await run(language, language === 'python' ? 'kept = 1' : 'let kept = 1');
  expect(await run(language, code, 1)).toMatchObject({
    exit_code: null,
    state_lost: true,
    error: { type: 'execution_timeout' },
  });
  expect(await run(language, look)).toEqual(fine(lost));
});

test.each([
  ['python', 'import os; os._exit(7)', { exit_code: 7 }],
  ['python', 'import os; os.kill(os.getpid(), 11)', { exit_code: 139, signal: 'SIGSEGV' }],
  ['python', 'import os; os.write(3, b"nonsense" * 4)', { exit_code: 137, signal: 'SIGKILL' }],
  ['node', 'process.abort()', { exit_code: 134, signal: 'SIGABRT' }],
  ['node', 'process.kill(process.pid, "SIGKILL")', { exit_code: 137, signal: 'SIGKILL' }],
] as const)(
  'W12: %s that dies reports how, and the next call has a new interpreter (%s)',
  async (language, code, end) => {
    expect(await run(language, code)).toMatchObject({ ...end, state_lost: true });
    const next = await run(language, language === 'python' ? 'print("new")' : 'console.log("new")');
    expect(next).toEqual(fine('new\n'));
  },
);

test('W12: Node survives the collection of a promise that never settles', async () => {
  await run('node', 'let kept = 1');
  await run(
    'node',
    'for (;;) { await new Promise((resolve) => setTimeout(resolve, 20)); console.log("tick") }',
    1,
  );
  await run(
    'node',
    'import { setTimeout as pause } from "node:timers/promises"\nfor (;;) { await pause(100) }',
    1,
  );
  const collect =
    'for (let n = 0; n < 2000; n += 1) { Array.from({ length: 1000 }, () => ({})); await fs.promises.stat("/") }';
  expect(await run('node', `${collect}\nconsole.log(kept)`)).toEqual(fine('1\n'));
});

test('W12: a state lost between calls is reported by the next call, once', async () => {
  await run('python', 'import os, threading\nthreading.Timer(0.2, os._exit, [0]).start()');
  await delay(2000);
  expect(await run('python', 'print(1)')).toEqual({ ...fine('1\n'), state_lost: true });
  expect(await run('python', 'print(1)')).toEqual(fine('1\n'));
  await sandbox.killRunner();
  await waitFor(async () => (await print('python', 'print(2)')) === '2\n' || true);
  expect(await run('node', 'console.log(3)')).toEqual({ ...fine('3\n'), state_lost: true });
});

test('calls of one language wait for each other, two languages do not', async () => {
  await Promise.all([run('python', 'import os, time; n = 0'), run('node', '1')]);
  const slow = run('python', "while not os.path.exists('go'): time.sleep(0.02)\nn += 1; print(n)");
  const next = run('python', 'n += 1; print(n)');
  // If one waited for the other, it would wait for ever.
  const other = await run('node', 'fs.writeFileSync("go", ""); console.log("meanwhile")');
  expect(other['stdout']).toBe('meanwhile\n');
  expect([(await slow)['stdout'], (await next)['stdout']]).toEqual(['1\n', '2\n']);
});

test('a cancelled call is interrupted, and a cancelled waiting call does not run', async () => {
  await run('python', 'kept = 1; ran = False');
  const start = (callId: string, code: string) =>
    sandbox.ask('POST', '/mcp', {
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name: 'execute_code',
          arguments: { language: 'python', code },
          _meta: { 'dev.sallyport/callId': callId },
        },
      }),
    });
  const [first, second] = [randomUUID(), randomUUID()];
  const running = start(first, 'while True: pass');
  await delay(300);
  const waiting = start(second, 'ran = True');
  await delay(200);
  await sandbox.ask('POST', `/calls/${second}/cancel`);
  expect((await waiting).body.toString()).toContain('it did not run');
  await sandbox.ask('POST', `/calls/${first}/cancel`);
  expect((await running).body.toString()).toContain('"type":"cancelled"');
  expect(await print('python', 'print(kept, ran)')).toBe('1 False\n');
});

test('background processes survive, but not those of a call that timed out', async () => {
  const pid = Number(
    await print('python', 'import subprocess\np = subprocess.Popen(["sleep", "300"])\nprint(p.pid)'),
  );
  const late = await run(
    'python',
    'q = subprocess.Popen(["sleep", "301"]); print(q.pid)\nwhile True: pass',
    1,
  );
  await waitFor(async () => (await print('python', `print(q.poll() is None)`)) === 'False\n');
  expect(Number(late['stdout'])).toBeGreaterThan(1);
  expect(await print('python', `import os; os.kill(${pid}, 0); print("alive"); p.kill()`)).toBe('alive\n');
});

test('pictures and texts are shown beside the output, at most eight and four megabytes', async () => {
  const { content } = await call(
    'python',
    'display("image/png", b"abc"); display("text/html", "<b>")\nprint("x")',
  );
  expect(content).toEqual([
    { type: 'text', text: 'x\n' },
    { type: 'image', data: 'YWJj', mimeType: 'image/png' },
    { type: 'text', text: '<b>' },
  ]);
  const node = await call(
    'node',
    'display("image/png", new Uint8Array([97, 98, 99])); display("image/jpeg", "YWJj"); display("image/svg+xml", "<svg/>")',
  );
  expect(node.content.slice(1)).toEqual([
    { type: 'image', data: 'YWJj', mimeType: 'image/png' },
    { type: 'image', data: 'YWJj', mimeType: 'image/jpeg' },
    { type: 'image', data: 'PHN2Zy8+', mimeType: 'image/svg+xml' },
  ]);
  const many = await call('python', 'for i in range(10): display("image/png", b"a")');
  expect(many.content.slice(8)).toEqual([
    { type: 'image', data: 'YQ==', mimeType: 'image/png' },
    { type: 'text', text: '[2 displayed left out: one call shows at most 8 things and 4 MB]' },
  ]);
  const large = await call(
    'node',
    'for (const n of [3, 3, 9]) display("image/png", new Uint8Array(n * 1e6))',
  );
  expect(large.content.slice(2)).toEqual([
    { type: 'text', text: '[2 displayed left out: one call shows at most 8 things and 4 MB]' },
  ]);
  expect(await run('python', 'display("video/mp4", b"")')).toMatchObject({ exit_code: 1 });
});

test('plt.show() shows the open figures, whenever matplotlib is imported', async () => {
  const folder = join(sandbox.workspace, 'matplotlib');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, '__init__.py'), '');
  await writeFile(
    join(folder, 'pyplot.py'),
    `open_figures = {}
class Figure:
    def __init__(self, number): self.number = number
    def savefig(self, file, format): file.write(f'{format}{self.number}'.encode())
def figure(number): return open_figures.setdefault(number, Figure(number))
def get_fignums(): return list(open_figures)
def close(which): open_figures.clear()
def show(): raise RuntimeError('no screen')
`,
  );
  sandbox.own();
  const code =
    'import matplotlib.pyplot as plt, os\nplt.figure(1); plt.figure(2)\nplt.show()\nprint(os.environ["MPLBACKEND"])';
  const { content } = await call('python', code);
  expect(content).toEqual([
    { type: 'text', text: 'agg\n' },
    { type: 'image', data: 'cG5nMQ==', mimeType: 'image/png' },
    { type: 'image', data: 'cG5nMg==', mimeType: 'image/png' },
  ]);
  expect((await call('python', 'plt.show(block=False)')).content).toHaveLength(1);
});

test('each stream keeps its first and last 256 KB, without splitting an emoji', async () => {
  for (const [language, code] of [
    ['python', 'import sys\nsys.stdout.write("x" + "🙂" * 200_000)'],
    ['node', 'process.stdout.write("x" + "🙂".repeat(200_000))'],
  ] as const) {
    const { stdout, stdout_truncated } = await run(language, code);
    const [head = '', tail = ''] = String(stdout).split(/\n\[\.\.\. \d+ bytes left out \.\.\.\]\n/);
    expect([stdout_truncated, head.length, tail.length]).toEqual([true, 1 + 2 * 65_535, 2 * 65_536]);
    expect(`${head}${tail}`.replaceAll('🙂', '')).toBe('x');
  }
});

test('code may have a megabyte, an argument of a program 128 KiB; more is refused by name', async () => {
  const code = `x = "${'y'.repeat(900_000)}"; print(len(x))`;
  expect(await print('python', code)).toBe('900000\n');
  const refused = async (name: string, input: object) => {
    const { isError, content } = await sandbox.callTool(name, input);
    return [isError, content[0]?.text];
  };
  expect(await refused('execute_code', { language: 'node', code: 'x'.repeat(1_048_577) })).toEqual([
    true,
    '{"error":{"type":"invalid_request","message":"execute_code: code: has at most 1048576 bytes"}}',
  ]);
  const [isError, text] = await refused('execute_command', { command: 'echo', args: ['ж'.repeat(70_000)] });
  expect([isError, text]).toEqual([true, expect.stringContaining('131071 bytes')]);
  expect(text).toContain('MAX_ARG_STRLEN');
});

test('a program that cannot be started has a shell’s error message', async () => {
  await writeFile(join(sandbox.workspace, 'plain'), 'text');
  sandbox.own();
  const start = async (command: string) => {
    const { structuredContent } = await sandbox.callTool('execute_command', { command, args: ['x'] });
    return [structuredContent?.['stderr'], structuredContent?.['exit_code']];
  };
  expect(await start('no-such')).toEqual(['no-such: command not found\n', 127]);
  expect(await start('./no-such')).toEqual(['./no-such: No such file or directory\n', 127]);
  expect(await start('./plain')).toEqual(['./plain: Permission denied\n', 126]);
});
