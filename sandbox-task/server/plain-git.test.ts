/**
 * Git in a sandbox, with files that plain calls may write there (docs/spec/turn.md, "Policies"): a workspace that
 * is made to look like a repository is not taken for one, and bare repositories are of use all the same.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startTestSandbox, type TestSandbox } from './sandbox-fixture.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.stop());

const run = async (command: string): Promise<string> => {
  const { structuredContent: { stdout, stderr, exit_code: code } = {} } = await sandbox.callTool(
    'execute_command',
    { command },
  );
  return `${code}: ${stdout}${stderr}`;
};
/** Another try of the test would meet them. */
const removeAfter = (names: string): void => onTestFinished(async () => void (await run(`rm -rf ${names}`)));
const write = (path: string, content: string) => sandbox.callTool('write_file', { path, content });

test('a workspace that plain edits turned into a bare repository starts no program of its configuration', async () => {
  removeAfter('HEAD objects refs config started');
  await write('HEAD', 'ref: refs/heads/main\n');
  await write('objects/k', '');
  await write('refs/k', '');
  const core = [
    'repositoryformatversion = 0',
    'bare = false',
    'worktree = .',
    'fsmonitor = "touch started; false"',
  ];
  await write('config', `[core]\n${core.join('\n')}\n`);
  expect(await run('git status')).toMatch(/^128: .*safe\.bareRepository is 'explicit'/);
  expect(existsSync(join(sandbox.workspace, 'started'))).toBe(false);
  // The same files start it for whoever names them: what is tried here does bite.
  await run('git --git-dir=. status');
  expect(existsSync(join(sandbox.workspace, 'started'))).toBe(true);
  expect(await run('rm -r HEAD objects refs config started')).toBe('0: ');
});

test('a named bare repository is cloned, pushed to and read', async () => {
  removeAfter('r b.git');
  const as = 'git -c user.email=a@b -c user.name=a';
  const made = `git init -q r && cd r && ${as} commit -q --allow-empty -m one && git clone -q --bare . ../b.git`;
  expect(await run(made)).toBe('0: ');
  expect(await run('cd r && git push -q ../b.git HEAD:refs/heads/two && git fetch -q ../b.git two')).toBe(
    '0: ',
  );
  expect(await run('git --git-dir=b.git log --format=%s two')).toBe('0: one\n');
});
