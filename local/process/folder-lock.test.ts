/** The lock of the data folder among processes that cannot see each other. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test, vi } from 'vitest';
import { FolderInUse, lockDataFolder } from './folder-lock.ts';

const makeFolder = () => mkdtemp(join(tmpdir(), 'sallyport-lock-'));
const elsewhere = JSON.stringify({ pid: 2, startedAt: '1', place: 'another boot' });
/** A busy machine may take as long as this to renew a lock. */
const patientMs = 100_000;

const lock = async (folder: string, watchMs: number) => {
  const lines: string[] = [];
  const options = { progress: (line: string) => void lines.push(line), times: { renewMs: 5, watchMs } };
  const { release } = await lockDataFolder(folder, options);
  onTestFinished(release);
  return { lines, release };
};

test('a process in another namespace of processes keeps its folder for as long as it lives', async () => {
  const folder = await makeFolder();
  const program = `
    import { lockDataFolder } from ${JSON.stringify(join(import.meta.dirname, 'folder-lock.ts'))};
    await lockDataFolder(process.argv[1], { progress: () => undefined, times: { renewMs: 5, watchMs: 1 } });
    process.stdout.write('locked\\n');
    setInterval(() => undefined, 1000);`;
  const apart = ['--dev-bind', '/', '/', '--proc', '/proc', '--unshare-pid', '--die-with-parent'];
  const run = [process.execPath, '--input-type=module', '--eval', program, folder];
  const child = spawn('bwrap', [...apart, ...run], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(createInterface({ input: child.stdout }), 'line');
  const refused = lock(folder, patientMs);
  await expect(refused).rejects.toThrow(FolderInUse);
  await expect(refused).rejects.toThrow(/process \d+ of another container or machine/);
  child.kill('SIGKILL');
  const { lines } = await vi.waitFor(() => lock(folder, 300), { timeout: patientMs });
  expect(lines).toEqual([expect.stringContaining(`${folder} was locked by process`)]);
});

test('the lock of a process that cannot be seen is taken over once it is silent', async () => {
  const folder = await makeFolder();
  await writeFile(join(folder, 'lock'), elsewhere);
  const { lines, release } = await lock(folder, 50);
  expect(lines).toHaveLength(1);
  expect(JSON.parse(await readFile(join(folder, 'lock'), 'utf8'))).toMatchObject({ pid: process.pid });
  release();
  expect(await readdir(folder)).toEqual([]);
});

test('a lock that is released while it is watched is free', async () => {
  const folder = await makeFolder();
  await writeFile(join(folder, 'lock'), elsewhere);
  const locked = lock(folder, patientMs);
  await rm(join(folder, 'lock'));
  expect((await locked).lines).toHaveLength(1);
});

test('a lock is renewed, and the lock of another process is not released', async () => {
  const folder = await makeFolder();
  const { release } = await lock(folder, 1);
  await utimes(join(folder, 'lock'), 1, 1);
  await expect.poll(async () => (await stat(join(folder, 'lock'))).mtimeMs).toBeGreaterThan(1000);
  await writeFile(join(folder, 'lock'), elsewhere);
  release();
  expect(await readdir(folder)).toEqual(['lock']);
});
