/** Requests and changes of files that must not cost the runner, and with it every program of the sandbox. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startTestSandbox, type TestSandbox } from './sandbox-fixture.ts';

let sandbox: TestSandbox;
let pids: readonly number[];
beforeAll(async () => {
  sandbox = await startTestSandbox();
  pids = await sandbox.pids();
});
afterAll(() => sandbox.stop());
afterEach(async () => expect(await sandbox.pids()).toEqual(pids));

const stdoutOf = async (command: string, args?: readonly string[]): Promise<unknown> =>
  (await sandbox.callTool('execute_command', { command, ...(args && { args }) })).structuredContent?.[
    'stdout'
  ];

test('arguments of any length that a program may have', async () => {
  // Each character has two in JSON.
  expect(await stdoutOf('printf', ['%s', '"'.repeat(131_000)])).toBe('"'.repeat(131_000));
  const many = Array.from({ length: 9 }, () => 'a'.repeat(110_000));
  expect(await stdoutOf('bash', ['-c', 'echo $#', 'bash', ...many])).toBe('9\n');
  expect(await stdoutOf(`: ${"'\u0001'".repeat(40_000)}; echo over`)).toBe('over\n');
});
