/** The version of cgroups, told by the answer to the command of a sandbox's check, which a shell runs here. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { cgroupsIn, kinds } from './check.ts';

/** In a folder with these files in place of the kernel's. */
const shown = (...files: readonly string[]): string => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'sallyport-cgroups-'));
  for (const file of files) {
    mkdirSync(dirname(join(folder.path, file)), { recursive: true });
    writeFileSync(join(folder.path, file), '');
  }
  const command = kinds.sandbox.text.replace('$ ', '').replace('/sys/fs/cgroup', folder.path);
  const { status, stdout } = spawnSync('sh', ['-c', command], { encoding: 'utf8' });
  expect([status, stdout]).toEqual([0, expect.stringContaining(kinds.sandbox.expects)]);
  return stdout;
};

test.each([
  ['v2', ['cgroup.procs', 'memory.events', 'memory.peak']],
  ['v1', ['memory/memory.oom_control', 'cpu/cpu.shares']],
  ['unseen', ['cgroup.procs']],
  ['unseen', []],
])('cgroups %s are told by their files %j', (version, files) => {
  expect(cgroupsIn(shown(...files))).toBe(version);
});
