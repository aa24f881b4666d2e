/** The session's variables and folder: in every program of the sandbox, after a lost runner as well, and in no answer. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestSandbox, type TestSandbox } from './sandbox-fixture.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.stop());

const configure = async (body: object): Promise<number> =>
  (await sandbox.ask('PUT', '/environment', { body: JSON.stringify(body) })).status;
const run = async (command: string): Promise<string> =>
  String((await sandbox.callTool('execute_command', { command })).structuredContent?.['stdout']);

test('programs and interpreters have the variables, and begin in the folder', async () => {
  expect(await configure({ variables: { GREETING: 'good day', EMPTY: '' }, cwd: 'app/src' })).toBe(204);
  expect(await run('echo "$GREETING,$EMPTY"; pwd; echo "$HOME"')).toBe(
    `good day,\n${sandbox.workspace}/app/src\n${sandbox.workspace}\n`,
  );
  const code = 'import os; print(os.environ["GREETING"], os.getcwd())';
  const { structuredContent } = await sandbox.callTool('execute_code', { code, language: 'python' });
  expect(structuredContent?.['stdout']).toBe(`good day ${sandbox.workspace}/app/src\n`);
});

test('a process has them, and a program of the folder is found in it', async () => {
  await run('printf "#!/bin/sh\\necho mine\\n" > tool; chmod +x tool');
  const { structuredContent } = await sandbox.callTool('execute_command', { command: './tool', args: ['x'] });
  expect(structuredContent?.['stdout']).toBe('mine\n');
  const id = crypto.randomUUID();
  const body = JSON.stringify({ id, command: 'pwd; echo "$GREETING"', waitMs: 20_000 });
  const answer = await sandbox.ask('POST', '/processes', { body });
  expect(JSON.parse(answer.body.toString())).toMatchObject({
    exitCode: 0,
    stdout: `${sandbox.workspace}/app/src\ngood day\n`,
  });
});

test('they are there after the runner was lost', async () => {
  await run('kill -9 $PPID').catch(() => undefined);
  expect(await run('echo "$GREETING"')).toBe('good day\n');
});

test('a repeat replaces them, and a folder that is gone is the workspace', async () => {
  expect(await configure({ variables: { OTHER: 'x' }, cwd: 'gone' })).toBe(204);
  expect(await run('echo "$GREETING,$OTHER"')).toBe(',x\n');
  await rm(join(sandbox.workspace, 'gone'), { recursive: true });
  expect(await run('pwd')).toBe(`${sandbox.workspace}\n`);
  await mkdir(join(sandbox.workspace, 'gone'));
  sandbox.own();
  expect(await run('pwd')).toBe(`${sandbox.workspace}/gone\n`);
});

test('a wrong body is refused without its values', async () => {
  const wrong = '{"variables": {"A": 5}, "more": "private"}';
  const { status, body } = await sandbox.ask('PUT', '/environment', { body: wrong });
  expect(status).toBe(400);
  expect(body.toString()).not.toContain('private');
});
