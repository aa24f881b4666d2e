/** State between calls through `/mcp`, black-box: what lasts, how its loss is said, how failed code is classified. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Server, startServer } from './server.ts';

let server: Server;
let client: Client;
let session_id = '';
beforeAll(async () => {
  server = await startServer({ variables: { MSB_DEFAULT_FLAVOR: 'micro' } });
  client = new Client({ name: 'e2e', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  const requestInit = { headers: { authorization: `Bearer ${server.token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit }));
  await client.listTools();
  session_id = String((await call('execute_code', { code: '1' }))['session_id']);
});
afterAll(async () => {
  await client.close();
  await server.stop();
});

type Fields = Record<string, unknown>;
type Block = { readonly type: string; readonly text?: string; readonly data?: string };

const blocksOf = async (name: string, args: Fields): Promise<readonly [Fields, readonly Block[]]> => {
  const result = await client.callTool({ name, arguments: args });
  expect(result.isError ?? false, JSON.stringify(result.content)).toBe(false);
  return [result.structuredContent as Fields, result.content as unknown as readonly Block[]];
};
const call = async (name: string, args: Fields): Promise<Fields> => (await blocksOf(name, args))[0];
const python = (code: string, timeout = 30) => call('execute_code', { code, session_id, timeout });
const node = (code: string, timeout = 30) =>
  call('execute_code', { code, session_id, timeout, template: 'node' });
const fine = (stdout: string) => ({ stdout, exit_code: 0 });

test('a variable of one call exists in the next, in both languages of one session', async () => {
  expect(await python('x = 41')).toMatchObject(fine(''));
  expect(await node('let x = 1; const y = await Promise.resolve(2)')).toMatchObject(fine(''));
  const again = await python('print(x + 1)');
  expect(again).toMatchObject({ ...fine('42\n'), session_created: false });
  expect(again).not.toHaveProperty('error');
  expect(again).not.toHaveProperty('state_lost');
  expect(await node('console.log(x + y)')).toMatchObject(fine('3\n'));
});

test('a session of node needs no template again', async () => {
  const made = await call('execute_code', { code: 'let x = 20; class A {}', template: 'node' });
  const more = { session_id: made['session_id'] };
  expect(await call('execute_code', { code: 'console.log(x + 1, typeof A)', ...more })).toMatchObject(
    fine('21 function\n'),
  );
  await call('stop_session', more);
});

test('failed code is a result with its kind, and the session continues', async () => {
  await python('kept = 7');
  const failures: readonly (readonly [Fields, number, string, RegExp, string])[] = [
    [await python('x = ('), 1, 'compilation_error', /^SyntaxError: /, 'fix_syntax_and_retry'],
    [await python('if True:\nx'), 1, 'compilation_error', /^IndentationError: /, 'fix_syntax_and_retry'],
    [await python('1 / 0'), 1, 'runtime_error', /^ZeroDivisionError: division by zero$/, 'debug_and_retry'],
    [
      await python('raise MemoryError("no")'),
      1,
      'resource_limit_exceeded',
      /^MemoryError: no$/,
      'create_new_session',
    ],
    [await python('import sys; sys.exit(3)'), 3, 'code_execution_error', /exit code 3/, 'debug_and_retry'],
    [await node('let ='), 1, 'compilation_error', /^SyntaxError: /, 'fix_syntax_and_retry'],
    [await node('null.x'), 1, 'runtime_error', /^TypeError: /, 'debug_and_retry'],
    [
      await call('execute_command', { command: 'exit 3', session_id }),
      3,
      'code_execution_error',
      /3/,
      'debug_and_retry',
    ],
    [
      await call('execute_command', { command: 'no-such', session_id }),
      127,
      'system_error',
      /127/,
      'retry_operation',
    ],
  ];
  for (const [result, exitCode, type, message, action] of failures) {
    const error = result['error'] as { type: string; message: string; recovery_actions: string[] };
    expect([result['exit_code'], error.type, error.message]).toEqual([
      exitCode,
      type,
      expect.stringMatching(message),
    ]);
    expect(error.recovery_actions).toContain(action);
  }
  expect(await python('print(kept)')).toMatchObject(fine('7\n'));
});

test('a warning is not a failure, and a word in the output not a limit', async () => {
  const warned = await python('import warnings; warnings.warn("SyntaxError: out of memory")');
  expect(warned).toMatchObject({ exit_code: 0, stderr: expect.stringContaining('out of memory') });
  expect(warned).not.toHaveProperty('error');
  const printed = await python('print("memory limit exceeded")\nraise ValueError("no")');
  expect(printed).toMatchObject({
    exit_code: 1,
    error: { type: 'runtime_error', message: 'ValueError: no' },
  });
});

test('an emoji at the cut of a long output is whole', async () => {
  const { stdout, stdout_truncated } = await python('print("x" + "🙂" * 200_000, end="")');
  expect(stdout_truncated).toBe(true);
  expect(String(stdout).replaceAll('🙂', '')).toMatch(
    /^x\n\[\.\.\. \d+ bytes left out; the whole is in \S+ \.\.\.\]\n$/,
  );
  const { error } = await python('raise ValueError("x" + "🙂" * 400)');
  const { message } = error as { message: string };
  expect(message).toMatch(/^ValueError: x(?:🙂)+\.\.\. \(truncated\)$/u);
  expect(message.length).toBeLessThanOrEqual(500);
});

test('a call that times out is interrupted and variables survive', async () => {
  for (const [run, define, loop, show] of [
    [python, 'kept = 8', 'while True: pass', 'print(kept)'],
    [node, 'let kept = 8', 'for (;;) {}', 'console.log(kept)'],
  ] as const) {
    await run(define);
    const late = await run(loop, 1);
    expect(late).toMatchObject({ exit_code: 124, error: { type: 'execution_timeout' } });
    expect(late).not.toHaveProperty('state_lost');
    expect(await run(show)).toMatchObject(fine('8\n'));
  }
});

test('an interpreter that dies reports it, and the next call has a new one', async () => {
  await python('kept = 9');
  expect(await python('import os; os._exit(5)')).toMatchObject({
    exit_code: 5,
    state_lost: true,
    error: { type: 'code_execution_error' },
  });
  const next = await python('print("kept" in globals())');
  expect(next).toMatchObject(fine('False\n'));
  expect(next).not.toHaveProperty('state_lost');
  expect(await python('import os; os.kill(os.getpid(), 11)')).toMatchObject({
    exit_code: 139,
    state_lost: true,
    error: { type: 'system_error', message: 'killed by SIGSEGV' },
  });
});

test('a call over the memory limit loses its interpreter, not that of the other language', async () => {
  await node('let survivor = 1');
  await python('kept = 1');
  const full = await python('data = bytearray(600 * 1024 * 1024)');
  expect(full).toMatchObject({
    exit_code: 137,
    state_lost: true,
    error: { type: 'resource_limit_exceeded', message: expect.stringContaining('512 MB') },
  });
  const after = await python('print("kept" in globals())');
  expect(after).toMatchObject(fine('False\n'));
  expect(Number(after['memory_peak_mb'])).toBeLessThan(400);
  expect(await node('console.log(survivor)')).toMatchObject(fine('1\n'));
});

test('a call over the process limit loses its interpreter with all its processes', async () => {
  const forks = 'import os, time\nwhile True:\n  if os.fork() == 0: time.sleep(300)';
  const threads =
    'import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(300,)).start()';
  for (const code of [forks, threads]) {
    await python('kept = 1');
    expect(await python(code)).toMatchObject({
      exit_code: 137,
      state_lost: true,
      error: { type: 'resource_limit_exceeded', message: expect.stringContaining('process limit') },
    });
    const left = await call('execute_command', { command: 'pgrep -c python3', session_id });
    expect(left).toMatchObject({ stdout: '0\n' });
    expect(await python('print("kept" in globals())')).toMatchObject(fine('False\n'));
  }
});

test('background processes of an earlier call are killed before a call that needs little', async () => {
  const leave = (count: number) =>
    call('execute_command', {
      command: `for _ in $(seq ${count}); do sleep 300 & done; echo started`,
      session_id,
    });
  expect(await leave(200)).toMatchObject(fine('started\n'));
  // Those of the call run until the earlier ones are gone.
  const next =
    'for _ in $(seq 50); do sleep 200 & done; while pgrep -f "sleep 30[0]" >/dev/null; do sleep 0.1; done; pgrep -fc "sleep 30[0]"; kill $(jobs -p)';
  expect(await call('execute_command', { command: next, session_id })).toMatchObject({ stdout: '0\n' });
});

test('concurrent calls share the state of their language in turn', async () => {
  await python('n = 0');
  const results = await Promise.all(Array.from({ length: 4 }, () => python('n += 1; print(n)')));
  expect(results.map(({ stdout }) => stdout).toSorted()).toEqual(['1\n', '2\n', '3\n', '4\n']);
});

test('pictures come beside the text', async () => {
  const code = 'display("image/png", b"abc")\nprint("shown")';
  const [fields, blocks] = await blocksOf('execute_code', { code, session_id });
  expect(fields).toMatchObject(fine('shown\n'));
  expect(blocks.slice(1)).toEqual([{ type: 'image', data: 'YWJj', mimeType: 'image/png' }]);
});

test('code of a megabyte runs', async () => {
  expect(await python(`x = "${'y'.repeat(900_000)}"; print(len(x))`)).toMatchObject(fine('900000\n'));
});
