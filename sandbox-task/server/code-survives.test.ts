/** Code and requests that must not cost the definitions of earlier code of the context. W12 of docs/spec/sandbox.md. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestSandbox, type TestSandbox } from './sandbox-fixture.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.stop());

type Language = 'python' | 'node';
const call = async (language: Language, code: string, more: object = {}) =>
  (await sandbox.callTool('execute_code', { language, code, timeout: 60, ...more })).structuredContent ?? {};

test('a variable with half of a character', async () => {
  await call('python', 'kept = 1');
  const env = { HALF: 'a\ud83d', WHOLE: 'é😀' };
  const code = 'import os; print(os.environ["HALF"] == "a\\ufffd", os.environ["WHOLE"], kept)';
  expect(await call('python', code, { env })).toMatchObject({ stdout: 'True é😀 1\n', exit_code: 0 });
});

test('a pipe of the output that a program has made non-blocking, full at the end', async () => {
  await call('python', 'kept = 2');
  const fill = `import os
os.set_blocking(1, False)
try:
    while True: os.write(1, b"x" * 65536)
except BlockingIOError: pass`;
  expect(await call('python', fill)).toMatchObject({ exit_code: 0, stderr: '' });
  expect(await call('python', 'os.set_blocking(1, True); print(kept)')).toMatchObject({ stdout: '2\n' });
});

test('a result of more forms than are shown', async () => {
  const python = `kept = 3
class Many:
    def _repr_mimebundle_(self, **_): return {f"text/x{at}": str(at) for at in range(20)}
Many()`;
  const node = `let kept = 3;
({ [Symbol.for('sallyport.display')]: () => Object.fromEntries(Array.from({ length: 20 }, (_, at) => ['text/x' + at, String(at)])) })`;
  for (const [language, code] of [
    ['python', python],
    ['node', node],
  ] as const) {
    const { results, exit_code: exitCode } = await call(language, code, { results: true });
    const [result] = results as readonly object[];
    expect([exitCode, Object.keys(result ?? {}).length]).toEqual([0, 16]);
    expect(result).toMatchObject({ 'text/plain': expect.any(String), 'text/x0': '0' });
    expect(await call(language, 'kept', { results: true })).toMatchObject({
      results: [{ 'text/plain': '3' }],
    });
  }
});

test('code that interrupts itself, at the latest in another interpreter', async () => {
  await call('node', 'process.kill(process.pid, "SIGINT"); for (;;);');
  expect(await call('node', '6 * 7', { results: true })).toMatchObject({ results: [{ 'text/plain': '42' }] });
});

test('a type that is none', async () => {
  await call('python', 'kept = 4');
  const refused = await call('python', 'display("text/é", "x")');
  expect(refused).toMatchObject({
    exit_code: 1,
    stderr: expect.stringContaining('ValueError: display shows'),
  });
  expect(await call('python', 'print(kept)')).toMatchObject({ stdout: '4\n' });
});

test('a hook for errors that ends the program', async () => {
  await call('python', 'import sys; kept = 5; sys.excepthook = lambda kind, error, _: sys.exit(9)');
  expect(await call('python', '1 / 0')).toMatchObject({ exit_code: 9, stderr: '' });
  expect(await call('python', 'sys.excepthook = sys.__excepthook__; print(kept)')).toMatchObject({
    stdout: '5\n',
  });
});
