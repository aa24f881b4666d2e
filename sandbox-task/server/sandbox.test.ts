/** The server as a whole: who may enter, what it logs, what it measures, how it stops. */

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { readArchive } from '#shared/contracts/archive.ts';
import { collectArchive, sha256Of, startTestSandbox, type TestSandbox, waitFor } from './sandbox-fixture.ts';

const start = async (variables?: Readonly<Record<string, string>>): Promise<TestSandbox> => {
  const sandbox = await startTestSandbox(variables);
  onTestFinished(sandbox.stop);
  return sandbox;
};
const json = ({ body }: { readonly body: Buffer }) => JSON.parse(body.toString());
const run = async (sandbox: TestSandbox, command: string): Promise<string> =>
  String((await sandbox.callTool('execute_command', { command })).structuredContent?.['stdout']);

test('a claim replaces the bearer: the new one works, the old one does not', async () => {
  const sandbox = await start();
  const bearer = 'new-bearer';
  const claim = (body: unknown) => sandbox.ask('POST', '/claim', { body: JSON.stringify(body) });
  expect((await claim({ bearerSha256: 'short' })).status).toBe(400);
  expect((await claim({ bearerSha256: sha256Of('x'), more: 1 })).status).toBe(400);
  expect((await sandbox.ask('POST', '/claim', { bearer: 'wrong', body: '{}' })).status).toBe(401);
  const claims = await Promise.all([
    claim({ bearerSha256: sha256Of(bearer) }),
    claim({ bearerSha256: sha256Of(bearer) }),
  ]);
  expect(claims.map(({ status }) => status).toSorted()).toEqual([204, 401]);
  expect((await sandbox.ask('GET', '/health')).status).toBe(401);
  expect((await sandbox.ask('GET', '/health', { bearer })).status).toBe(200);
});

test('the log has programs’ stderr, line by line, and why calls were killed', async () => {
  const sandbox = await start();
  const before = Date.now();
  await sandbox.callTool('execute_command', {
    command: 'echo out; echo one >&2; echo >&2; printf "two\\nhalf" >&2',
  });
  await sandbox.callTool('execute_command', { command: 'printf "%3000d\\n" 7 >&2' });
  await sandbox.callTool('execute_command', { command: 'sleep 20', timeout: 1 });
  const { lines } = json(await sandbox.ask('GET', '/logs?after=0'));
  expect(lines.map(({ at: _, ...line }: { at: number }) => line)).toEqual([
    { number: 1, stream: 'stderr', text: 'one' },
    { number: 2, stream: 'stderr', text: '' },
    { number: 3, stream: 'stderr', text: 'two' },
    { number: 4, stream: 'stderr', text: 'half' },
    { number: 5, stream: 'stderr', text: `${' '.repeat(2000)}... (truncated)` },
    { number: 6, stream: 'lifecycle', text: 'a call was killed: timed out after 1 s' },
  ]);
  expect(lines.every(({ at }: { at: number }) => at >= before && at <= Date.now())).toBe(true);
  expect(json(await sandbox.ask('GET', '/logs?after=5')).lines).toHaveLength(1);
  expect(json(await sandbox.ask('GET', '/logs?after=6')).lines).toEqual([]);
  expect((await sandbox.ask('GET', '/logs?after=-1')).status).toBe(400);
});

test.each(['execute_command', 'execute_code'])('%s refuses an unknown argument by its name', async (name) => {
  const sandbox = await start();
  const input = { command: 'true', code: '1', language: 'node', folder: '/' };
  const { command, code, language, folder } = input;
  const result = await sandbox.callTool(
    name,
    name === 'execute_code' ? { code, language, folder } : { command, folder },
  );
  expect(result).toMatchObject({
    isError: true,
    content: [
      {
        text: JSON.stringify({
          error: { type: 'invalid_request', message: `${name}: the call has no field "folder"` },
        }),
      },
    ],
  });
});

test('the processor time of a call excludes one that ended concurrently', async () => {
  const sandbox = await start();
  const busy = 'import time\nwhile time.process_time() < 0.8: pass';
  const idling = sandbox.callTool('execute_command', {
    command: 'mkfifo end; touch waits; read -r _ < end',
  });
  await waitFor(async () => existsSync(join(sandbox.workspace, 'waits')));
  const worked = await sandbox.callTool('execute_code', { language: 'python', code: busy });
  await writeFile(join(sandbox.workspace, 'end'), 'go\n');
  const idle = await idling;
  expect(Number(worked.structuredContent?.['cpu_ms'])).toBeGreaterThanOrEqual(700);
  expect(Number(idle.structuredContent?.['cpu_ms'])).toBeLessThan(400);
});

test('user code and file tools know a shared folder only if there is one', async () => {
  const shared = await mkdtemp(join(tmpdir(), 'sallyport-shared-'));
  await chmod(shared, 0o777);
  const [withShared, without] = await Promise.all([start({ SANDBOX_SHARED_PATH: shared }), start()]);
  const name = 'printenv SHARED_VOLUME_PATH || echo nothing';
  expect(await run(withShared, name)).toBe(`${shared}\n`);
  expect(await run(without, name)).toBe('nothing\n');
  const path = `/files/${encodeURIComponent(join(shared, 'a/file'))}`;
  expect((await withShared.ask('PUT', path, { body: 'text' })).status).toBe(201);
  expect(await run(withShared, 'ln -s "$SHARED_VOLUME_PATH/a" link; cat link/file')).toBe('text');
  expect((await withShared.ask('GET', '/files/link/file')).body.toString()).toBe('text');
  expect((await withShared.callTool('read_file', { path: join(shared, 'a/file') })).content[0]?.text).toBe(
    'text',
  );
  expect((await withShared.ask('DELETE', `/files/${encodeURIComponent(shared)}`)).status).toBe(400);
  expect((await withShared.ask('GET', `/files/${encodeURIComponent(join(shared, '../x'))}`)).status).toBe(
    400,
  );
  expect((await without.ask('GET', path)).status).toBe(400);
  expect((await withShared.ask('DELETE', path)).status).toBe(204);
});

test('W11: a running checkpoint is finished on stop, and only then do processes end', async () => {
  const sandbox = await start();
  const large = join(sandbox.workspace, 'large');
  await writeFile(large, '');
  await truncate(large, 50 * 1_048_576);
  const pid = Number(await run(sandbox, 'sleep 300 >/dev/null 2>&1 & echo $!'));
  const stream = await sandbox.open('GET', `/checkpoint?id=${randomUUID()}&base=`);
  const frames = readArchive(stream);
  await frames.next();
  const exit = once(sandbox.child, 'exit');
  sandbox.child.kill('SIGTERM');
  await waitFor(async () => (await sandbox.ask('GET', '/health').catch(() => undefined)) === undefined);
  await delay(300);
  expect(existsSync(`/proc/${pid}`)).toBe(true);
  const types: string[] = [];
  for await (const { header } of frames) types.push(header.type);
  expect(types.at(-1)).toBe('end');
  expect(await exit).toEqual([0, null]);
  if (sandbox.hasOwnUser) await waitFor(async () => !existsSync(`/proc/${pid}`));
  else process.kill(pid);
});

test('without a checkpoint it stops at once', async () => {
  const sandbox = await start();
  const call = sandbox
    .callTool('execute_command', { command: 'sleep 600', timeout: 900 })
    .catch(() => 'broken off');
  await delay(300);
  const exit = once(sandbox.child, 'exit');
  sandbox.child.kill('SIGTERM');
  expect(await exit).toEqual([0, null]);
  expect(await call).toBe('broken off');
});

test('W9: a runner killed in a checkpoint cuts the archive before its end', async () => {
  const sandbox = await start();
  await mkdir(join(sandbox.workspace, 'a'));
  await writeFile(join(sandbox.workspace, 'large'), '');
  await truncate(join(sandbox.workspace, 'large'), 50 * 1_048_576);
  const stream = await sandbox.open('GET', `/checkpoint?id=${randomUUID()}&base=`);
  const collected = collectArchive(stream);
  await sandbox.killRunner();
  await expect(collected).rejects.toThrow('aborted');
  const next = await collectArchive(await sandbox.open('GET', `/checkpoint?id=${randomUUID()}&base=`));
  expect(next.isEnded).toBe(true);
});
