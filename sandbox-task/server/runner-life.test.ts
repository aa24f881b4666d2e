/** Requests and changes of files that must not cost the runner, and with it every program of the sandbox. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startTestSandbox, type TestSandbox, waitFor } from './sandbox-fixture.ts';

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

test('a watched folder that is closed, and one that becomes a file', async () => {
  await stdoutOf('mkdir -p watched/closed watched/swapped');
  const stream = await sandbox.open('GET', '/watch?path=watched');
  const swap =
    'for i in 1 2 3; do touch swapped/a swapped/b; rm -r swapped; echo > swapped; rm swapped; mkdir swapped; done';
  await stdoutOf(`cd watched; touch closed/a; chmod 000 closed; ${swap}; chmod 700 closed; echo > last`);
  let text = '';
  for await (const piece of stream) {
    text += String(piece);
    if (text.includes('watched/last')) break;
  }
  stream.destroy();
  expect(text).toContain('"watched/closed/a"');
  // The change of a folder's mode is none of an entry in it.
  expect(text).not.toContain('closed/closed');
});

test('listings whose readers leave in their middle', async () => {
  const names = Array.from({ length: 1500 }, (_, at) => `${at}-${'n'.repeat(200)}`);
  await mkdir(join(sandbox.workspace, 'many'), { recursive: true });
  await Promise.all(names.map((name) => writeFile(join(sandbox.workspace, 'many', name), '')));
  sandbox.own();
  const path = '/files?path=many&recursive=1';
  for (let reader = 0; reader < 40; reader += 1) (await sandbox.open('GET', path)).destroy();
  await waitFor(async () => (await sandbox.ask('GET', path)).status === 200);
  const { files } = JSON.parse((await sandbox.ask('GET', path)).body.toString());
  expect(files.length).toBe(names.length);
});
