/**
 * The walls of one machine, which add to the image's own confinement: neither the server nor the host exists inside, and
 * scores of the kernel's memory killer cannot be changed (W1, W2, W5 and W6 of docs/spec/sandbox.md).
 */
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EcsEndpoint, start } from '../../local/ecs/start.ts';
import { sandboxProcesses } from '../e2e/sandbox-processes.ts';
import { type AttackedSandbox, awaitAddress, startSandbox } from './sandbox-fixture.ts';

let home = '';
let ecs: EcsEndpoint;
let sandbox: AttackedSandbox;
let run: AttackedSandbox['run'];

beforeAll(async () => {
  const events = awaitAddress();
  home = await mkdtemp(join(tmpdir(), 'sallyport-walls-'));
  ecs = await start({ home, onTaskEvent: events.take });
  sandbox = await startSandbox(ecs, events);
  ({ run } = sandbox);
});
afterAll(() => ecs.stop());

test('W1: no file of the host can be read', async () => {
  const text = await run(
    `cat /etc/shadow /proc/1/root/etc/shadow ${import.meta.filename} 2>&1; ls ${homedir()} ${process.cwd()} /home /var 2>&1; ls /`,
  );
  expect(text).not.toMatch(/root:[*$!]|package\.json|scores of the kernel/);
  expect(text.match(/No such file/g)?.length).toBeGreaterThanOrEqual(5);
});

test('W2: no process outside can be seen, signalled or traced', async () => {
  const text = await run(
    'cat /proc/[0-9]*/cmdline | tr "\\0" " "; kill -9 1 2>&1; ls /opt/sallyport /run 2>&1',
  );
  expect(text).not.toContain('server.mjs');
  expect(await run('echo still here')).toContain('still here');
});

test('W5: only /workspace, /tmp and /dev/shm can be written', async () => {
  const text = await run(
    'for d in $(find / -xdev -type d -not -path "/proc/*" 2>/dev/null | head -3000) /dev/shm /proc/sys/kernel /proc/self/attr; do (: > $d/.probe) 2>/dev/null && echo "$d"; done; for f in /proc/sys/kernel/core_pattern /proc/sys/kernel/shmmax /proc/sys/fs/mqueue/msg_max /proc/self/oom_score_adj /proc/self/comm; do (echo 1 > $f) 2>/dev/null && echo "$f"; done; true',
  );
  const writable = text.split('\n').filter((line) => line.startsWith('/'));
  expect(writable.filter((path) => !/^\/(workspace|tmp|dev\/shm)/.test(path))).toEqual([]);
});

test('W6: code that lowers its own score and tries to raise the runner’s hits the limit itself', async () => {
  const runnerPid = () => sandbox.run('echo $PPID');
  const before = await runnerPid();
  await sandbox.call('write_file', {
    path: 'many.py',
    content: `
import os, time
for path, score in [('/proc/self/oom_score_adj', '0'), (f'/proc/{os.getppid()}/oom_score_adj', '1000')]:
    try: open(path, 'w').write(score)
    except OSError: pass
for _ in range(100):
    if open('/proc/self/oom_score_adj').read() == '1000\\n': break
    time.sleep(0.05)
for _ in range(60):
    if os.fork() == 0:
        held = b'x' * (12 << 20)
        time.sleep(90)
        os._exit(0)
time.sleep(90)
`,
  });
  expect(
    await sandbox.call('execute_command', { command: 'exec python3 many.py', timeout: 100 }),
  ).toMatchObject({
    status: 'failed',
    code: 'resource_limit_exceeded',
    message: expect.stringContaining('out of memory'),
  });
  expect(await runnerPid()).toBe(before);
});

test('W6: user processes have a score of 1000 within a moment, and cannot lower it', async () => {
  const text = await sandbox.run(
    'for n in $(seq 100); do [ $(cat /proc/$$/oom_score_adj) = 1000 ] && break; sleep 0.05; done; cat /proc/self/oom_score_adj /proc/$PPID/oom_score_adj; (echo 0 > /proc/self/oom_score_adj) 2>&1; choom -n 0 -p $$ 2>&1',
  );
  expect(text).toMatch(/^1000\n0\n[\s\S]*Read-only file system/);
});

test('W6: processes that a call leaves behind have 1000, too, even if the call was short', async () => {
  // Of this try: one that failed has left another.
  const seconds = String(randomInt(4000, 1_000_000));
  await sandbox.run(`setsid sleep ${seconds} >/dev/null 2>&1 &`);
  const scores = () =>
    sandboxProcesses(home)
      .filter(({ pid }) => readFileSync(`/proc/${pid}/cmdline`, 'utf8') === `sleep\0${seconds}\0`)
      .map(({ pid }) => readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8'));
  // No other call is made, which would look after it.
  await expect.poll(scores, { timeout: 50_000 }).toEqual(['1000\n']);
});
