/** Control groups of the kernel, where we may write them: as root. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { findHierarchy } from './cgroup.ts';

const hierarchy = findHierarchy();
const limits = { memoryMb: 64, cpus: 0.5, processesMax: 16 };

/** A process in a group of this name, as a sandbox joins it. */
const open = async (name: string) => {
  if (hierarchy === undefined) throw new Error('there is no hierarchy');
  const cgroup = hierarchy.open(name, limits);
  const join = cgroup.joinFiles.map((file) => `echo $$ > ${file} && `).join('');
  const child = spawn('/bin/sh', ['-c', `${join}echo in && exec sleep 60`], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  return { cgroup, ended };
};

test.runIf(hierarchy !== undefined)(
  'a sweep ends what a killed predecessor left, and only that',
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

test.runIf(hierarchy !== undefined)('a group that is gone has killed nobody and holds nobody', async () => {
  const { cgroup } = await open(`test-${process.pid}-c`);
  await cgroup.remove();
  await cgroup.killAll();
  expect(cgroup.oomKills()).toBe(0);
});
