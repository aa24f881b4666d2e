/**
 * The launcher of the image, run here: the filter over user code without bubblewrap, a runner that cannot be traced,
 * and no descriptor of the launching process (W7 and W9 of docs/spec/sandbox.md).
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdtempDisposableSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundleSandbox } from '../bundle.ts';
import { startTestSandbox, type TestSandbox } from './sandbox-fixture.ts';

/** As the image has it, for a folder and a user of this machine. */
const launcherOf = (folder: string, uid: number): readonly string[] => {
  const dockerfile = readFileSync(join(import.meta.dirname, '..', 'Dockerfile'), 'utf8');
  const text = /SANDBOX_USER_LAUNCHER='([^']+)'/.exec(dockerfile)?.[1] ?? '[]';
  const loaders = /ls (\S+) (\S+) 2>/.exec(dockerfile)?.slice(1) ?? [];
  copyFileSync(loaders.find((path) => existsSync(path)) ?? '', join(folder, 'loader'));
  chmodSync(join(folder, 'loader'), 0o111);
  return (JSON.parse(text) as string[]).map((word) =>
    word.replace('/opt/sallyport', folder).replace('=10001', `=${uid}`),
  );
};

const isRoot = process.getuid?.() === 0;
let sandbox: TestSandbox;
beforeAll(async () => {
  if (isRoot) sandbox = await startTestSandbox({}, { launcherOf });
});
afterAll(async () => {
  if (isRoot) await sandbox.stop();
});

const run = async (command: string): Promise<unknown> =>
  (await sandbox.callTool('execute_command', { command })).structuredContent?.['stdout'];

test.runIf(isRoot)('user code has the filter, no privilege, and the highest score', async () => {
  expect(
    await run('grep -E "^(NoNewPrivs|CapBnd|Seccomp):" /proc/self/status; cat /proc/self/oom_score_adj'),
  ).toBe('CapBnd:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n1000\n');
});

test.runIf(isRoot)('the runner cannot be traced, read, or given another score', async () => {
  const program = `
import ctypes, errno, os, platform
libc = ctypes.CDLL(None, use_errno=True); runner = os.getppid()
assert 'runner.mjs' in open(f'/proc/{runner}/cmdline').read()
libc.syscall(117 if platform.machine() == 'aarch64' else 101, 16, runner, 0, 0); print(errno.errorcode[ctypes.get_errno()])
for name in ['mem', 'environ', 'fd/3', 'oom_score_adj']:
    try: open(f'/proc/{runner}/{name}', 'r+'); print(name)
    except OSError as e: print(errno.errorcode[e.errno])
`;
  await sandbox.callTool('write_file', { path: 'trace.py', content: program });
  expect(await run('exec python3 trace.py')).toBe('EPERM\nEACCES\nEACCES\nEACCES\nEACCES\n');
});

test.runIf(isRoot)('code of both languages runs', async () => {
  const python = await sandbox.callTool('execute_code', { language: 'python', code: 'print(6 * 7)' });
  const node = await sandbox.callTool('execute_code', { language: 'node', code: 'console.log(6 * 7)' });
  const types = 'enum Answer { Known = 42 }\nconsole.log(Answer.Known)';
  const typed = await sandbox.callTool('execute_code', { language: 'node', code: types });
  expect([python, node, typed].map(({ structuredContent }) => structuredContent?.['stdout'])).toEqual([
    '42\n',
    '42\n',
    '42\n',
  ]);
});

const confine = join(import.meta.dirname, '..', 'confinement', 'confine.py');

test('descriptors above the channel are closed', async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'sallyport-confine-'));
  await bundleSandbox(folder.path);
  const line = `exec 3</dev/null 60</ 1000</; exec python3 -IS "$0" "$1" /bin/bash -c 'echo /proc/self/fd/*'`;
  const { stdout } = spawnSync('bash', ['-c', line, confine, folder.path], { encoding: 'utf8' });
  // The last one is that of the list itself.
  expect(stdout.replaceAll('/proc/self/fd/', '')).toBe('0 1 2 3 4\n');
});

test('without its filter no program is started', () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'sallyport-confine-'));
  const { status, stdout } = spawnSync('python3', ['-IS', confine, folder.path, '/bin/echo', 'started'], {
    encoding: 'utf8',
  });
  expect([status, stdout]).toEqual([1, '']);
});
