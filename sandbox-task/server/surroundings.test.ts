/** The surroundings of one call: working folder, variables, and how much of its output is shown. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestSandbox, type TestSandbox } from './sandbox-fixture.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.stop());

type Fields = Readonly<Record<string, unknown>>;
const run = async (tool: string, input: Fields): Promise<Fields> => {
  const { structuredContent, content } = await sandbox.callTool(tool, input);
  if (structuredContent === undefined) throw new Error(JSON.stringify(content));
  return structuredContent;
};
const command = (line: string, more: Fields = {}) => run('execute_command', { command: line, ...more });
const python = (code: string, more: Fields = {}) =>
  run('execute_code', { code, language: 'python', ...more });
const node = (code: string, more: Fields = {}) => run('execute_code', { code, language: 'node', ...more });

const place = { cwd: 'deep/er', env: { SHADE: 'green', HOME: '/tmp' } };
beforeAll(async () => void (await command('mkdir -p deep/er')));

test('a command runs in its folder, with its variables', async () => {
  expect(await command('pwd; echo $SHADE $HOME', place)).toMatchObject({
    stdout: expect.stringMatching(/\/deep\/er\ngreen \/tmp\n$/),
    exit_code: 0,
  });
  expect((await command('pwd', { cwd: '/tmp' }))['stdout']).toBe('/tmp\n');
  expect((await command('echo "[$SHADE]"'))['stdout']).toBe('[]\n');
});

test('an empty list of arguments is a bash line', async () => {
  expect((await command('echo hi there', { args: [] }))['stdout']).toBe('hi there\n');
});

test('a folder that is not there is named', async () => {
  expect(await command('pwd', { cwd: 'nowhere' })).toMatchObject({
    exit_code: 126,
    stderr: 'cwd: nowhere: No such file or directory\n',
  });
});

test.each([
  {
    ...{ language: 'python', code: python, none: 'None' },
    show: 'import os; print(os.getcwd(), os.environ.get("SHADE"))',
  },
  {
    ...{ language: 'node', code: node, none: 'undefined' },
    show: 'console.log(process.cwd(), process.env.SHADE)',
  },
])('code in $language has its folder and variables for one call', async ({ code, show, none }) => {
  const before = (await code(show))['stdout'];
  expect(before).toContain(` ${none}\n`);
  expect((await code(show, place))['stdout']).toMatch(/\/deep\/er green\n$/);
  expect((await code(show))['stdout']).toBe(before);
  expect(await code(show, { cwd: 'nowhere' })).toMatchObject({
    exit_code: 1,
    stderr: expect.stringMatching(/^cwd: .*nowhere/),
  });
  expect((await code(show))['stdout']).toBe(before);
});

const readOutput = async (path: unknown): Promise<string> => {
  const name = String(path).replace('/workspace/', '');
  return (await sandbox.ask('GET', `/files/${name}`)).body.toString();
};

test('a long stream is shown as head and tail, and is whole in a file', async () => {
  const shown = await command('seq 1 300000; echo bad >&2', { output_limit: 1000 });
  const whole = Array.from({ length: 300_000 }, (_, index) => `${index + 1}\n`).join('');
  const { stdout, stdout_file: file } = shown;
  expect(String(stdout).length).toBeLessThanOrEqual(1000);
  expect(stdout).toMatch(/^1\n2\n3\n.*left out; the whole is in \/workspace\/\.sallyport\/.*300000\n$/s);
  expect(shown).toMatchObject({ stdout_truncated: true, stderr: 'bad\n' });
  expect(shown).not.toHaveProperty('stderr_file');
  expect(await readOutput(file)).toBe(whole);
});

test('code stores its long streams too, and a short one stores nothing', async () => {
  const shown = await python('print("é" * 1500)', { output_limit: 1000 });
  expect(await readOutput(shown['stdout_file'])).toBe(`${'é'.repeat(1500)}\n`);
  const exact = await python('print("é" * 999)', { output_limit: 1000 });
  expect(exact['stdout']).toBe(`${'é'.repeat(999)}\n`);
  expect(exact).not.toHaveProperty('stdout_file');
  expect(exact).not.toHaveProperty('stdout_truncated');
});

test('a folder that cannot be made costs the file alone', async () => {
  await command('mv .sallyport old; touch .sallyport');
  const shown = await command('seq 1 3000', { output_limit: 1000 });
  expect(shown).toMatchObject({ stdout_truncated: true, exit_code: 0 });
  expect(shown).not.toHaveProperty('stdout_file');
  await command('rm .sallyport; mv old .sallyport');
});

test.each([
  [{ cwd: 'a\0b' }, 'cwd'],
  [{ env: { '1A': 'x' } }, 'env'],
  [{ env: { SALLYPORT_X: 'x' } }, 'env'],
  [{ env: { A: 'a\0b' } }, 'env'],
  [{ env: { A: 'x'.repeat(33_000) } }, 'env'],
  [{ output_limit: 0 }, 'output_limit'],
])('%j is refused by name', async (more, name) => {
  const { isError, content } = await sandbox.callTool('execute_command', { command: 'true', ...more });
  expect(isError).toBe(true);
  expect(JSON.stringify(content)).toContain(name);
});

test('a program opens its output by name', async () => {
  const named = 'echo out > /dev/stdout; echo both | tee /dev/stderr; echo bad > /proc/self/fd/2';
  expect(await command(named)).toMatchObject({ stdout: 'out\nboth\n', stderr: 'both\nbad\n', exit_code: 0 });
  const code =
    'import os\nwith open("/dev/stderr", "w") as f: f.write("bad\\n")\nos.system("echo out > /dev/stdout")\nNone';
  expect(await python(code)).toMatchObject({ stdout: 'out\n', stderr: 'bad\n', exit_code: 0 });
});
