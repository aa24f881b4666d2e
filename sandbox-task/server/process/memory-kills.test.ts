/** Kills of the kernel for want of memory, as a cgroup's counter tells them, in a sandbox where several programs run. */
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestSandbox, type TestSandbox, waitFor } from '../sandbox-fixture.ts';
import { output, runToEnd, show, start } from './process-fixture.ts';

let folder: string;
let sandbox: TestSandbox;
let kills = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-counters-'));
  writeFileSync(join(folder, 'memory.events'), 'oom_kill 0\n');
  sandbox = await startTestSandbox({ SANDBOX_CGROUP: folder });
});
afterAll(async () => {
  await sandbox.stop();
  await rm(folder, { recursive: true });
});

/** As the kernel does it: the count rises, then the victim gets its signal. */
const killForMemory = async (id: string): Promise<void> => {
  kills += 1;
  writeFileSync(join(folder, 'memory.events'), `oom_kill ${kills}\n`);
  process.kill(Number((await show(sandbox, id))['pid']), 'SIGKILL');
};
const endOf = async (id: string) => (await output(sandbox, id)).at(-1)?.data;
/** The counter is read ten times a second. */
const lookMs = 400;

test('a kill counts for the program that it ended, and not for one that runs alone afterwards', async () => {
  const [lasting, victim] = [await start(sandbox, 'sleep 600'), await start(sandbox, 'sleep 600')];
  await killForMemory(victim);
  expect(await endOf(victim)).toMatchObject({ killedFor: 'memory' });
  await delay(lookMs);
  expect(await show(sandbox, lasting)).toMatchObject({ state: 'running' });
  // A signal of somebody else is no want of memory.
  process.kill(Number((await show(sandbox, lasting))['pid']), 'SIGKILL');
  const end = await endOf(lasting);
  expect(end).toMatchObject({ signal: 'SIGKILL' });
  expect(end).not.toHaveProperty('killedFor');
});

test('a kill counts for no call and no program that begins after it', async () => {
  const [lasting, victim] = [await start(sandbox, 'sleep 600'), await start(sandbox, 'sleep 600')];
  await killForMemory(victim);
  await endOf(victim);
  await sandbox.ask('DELETE', `/processes/${lasting}`);
  const { structuredContent } = await sandbox.callTool('execute_command', { command: 'kill -9 $$' });
  expect(structuredContent).toMatchObject({ exit_code: 137 });
  expect(JSON.stringify(structuredContent)).not.toContain('out of memory');
  expect(await runToEnd(sandbox, 'sleep 0.3; kill -9 $$')).not.toHaveProperty('killedFor');
});

test('the rest of a program that ran alone is killed with what the kernel killed of it', async () => {
  const id = await start(sandbox, 'sleep 600 & wait $!; sleep 600');
  await waitFor(async () => (await show(sandbox, id))['state'] === 'running');
  kills += 1;
  writeFileSync(join(folder, 'memory.events'), `oom_kill ${kills}\n`);
  expect(await endOf(id)).toMatchObject({ killedFor: 'memory' });
});
