/** Control groups of the kernel, where we may write them: as root. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { findHierarchy, watchOutOfMemory } from './cgroup.ts';
import { exitCodeOf } from './running-sandbox.ts';

const hierarchy = findHierarchy();
const limits = { memoryMb: 64, cpus: 0.5, processesMax: 16 };

/** A process in a group of this name, as a sandbox joins it; both are gone after the test. */
const open = async (name: string) => {
  if (hierarchy === undefined) throw new Error('there is no hierarchy');
  const cgroup = hierarchy.open(name, limits);
  onTestFinished(cgroup.remove);
  const join = cgroup.joinFiles.map((file) => `echo $$ > ${file} && `).join('');
  const child = spawn('/bin/sh', ['-c', `${join}echo in && exec sleep 60`], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  return { cgroup, ended };
};

test.runIf(hierarchy !== undefined)(
  'a sweep kills only the processes that a killed predecessor left',
  async () => {
    const [left, other] = [await open(`test-${process.pid}-a`), await open(`test-${process.pid}-b`)];
    await hierarchy?.sweep(`test-${process.pid}-a`);
    expect(await left.ended).toEqual([null, 'SIGKILL']);
    expect(left.cgroup.joinFiles.filter((file) => existsSync(file))).toEqual([]);
    expect(other.cgroup.joinFiles.filter((file) => !existsSync(file))).toEqual([]);
    await other.cgroup.remove();
    expect(await other.ended).toEqual([null, 'SIGKILL']);
  },
);

test.runIf(hierarchy !== undefined)('a deleted group has killed no process and holds none', async () => {
  const { cgroup } = await open(`test-${process.pid}-c`);
  await cgroup.remove();
  await cgroup.killAll();
  expect(cgroup.oomKills()).toBe(0);
});

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test('a kill just before the end counts as out of memory', async () => {
  let kills = 0;
  const watch = watchOutOfMemory(() => kills);
  await vi.advanceTimersByTimeAsync(10_000);
  kills = 1;
  await vi.advanceTimersByTimeAsync(500);
  expect(watch.end()).toBe(true);
});

test('an earlier killed call does not explain a later end', async () => {
  let kills = 0;
  const watch = watchOutOfMemory(() => kills);
  kills = 1;
  await vi.advanceTimersByTimeAsync(1000);
  expect(watch.end()).toBe(false);
});

test('counts from before the watch are ignored', () => {
  expect(watchOutOfMemory(() => 5).end()).toBe(false);
});

test('an exit by a signal has the exit code of a shell', () => {
  expect([
    exitCodeOf(0, null),
    exitCodeOf(3, null),
    exitCodeOf(null, 'SIGKILL'),
    exitCodeOf(null, 'SIGTERM'),
  ]).toEqual([0, 3, 137, 143]);
});
