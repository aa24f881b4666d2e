/** The installation before each npm script, with an npm that only says that it was called. */
import { spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rename, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cacheBuild } from '../sandbox-task/build-cache.ts';

const script = join(import.meta.dirname, 'install-packages.sh');

/** A checkout whose functions a process holds, before the packages change. */
const open = async (isHeld: boolean) => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-install-'));
  const programs = join(folder, 'programs');
  await mkdir(programs);
  await mkdir(join(folder, 'node_modules'));
  for (const name of ['package-lock.json', 'node_modules/.package-lock.json'])
    await writeFile(join(folder, name), '{}');
  // Two files of one moment may have one time.
  await utimes(join(folder, 'package-lock.json'), 1000, 1000);
  await writeFile(join(programs, 'npm'), '#!/bin/sh\necho installed\n');
  await chmod(join(programs, 'npm'), 0o755);
  const kept = join(folder, 'node_modules', '.functions');
  const sources = [join(folder, 'package-lock.json')];
  const build = await cacheBuild({ kept, sources, isHeld, buildInto: async () => undefined });
  const change = (): Promise<void> => utimes(join(folder, 'node_modules/.package-lock.json'), 1, 1);
  const install = () => {
    const environment = { PATH: `${programs}:/usr/bin:/bin` };
    const { status, stdout, stderr } = spawnSync('sh', [script], {
      ...{ cwd: folder, env: environment, encoding: 'utf8' },
    });
    return { status, isInstalled: stdout.includes('installed'), stderr };
  };
  /** As in a second worktree that shares the packages of the first. */
  const link = async (): Promise<void> => {
    await rename(join(folder, 'node_modules'), join(folder, 'packages-of-another'));
    await symlink(join(folder, 'packages-of-another'), join(folder, 'node_modules'));
  };
  return { build, change, install, link };
};

test('packages that have not changed are not installed again, also under a running program', async () => {
  const { install } = await open(true);
  expect(install()).toEqual({ status: 0, isInstalled: false, stderr: '' });
});

test('packages that have changed are installed', async () => {
  const { change, install } = await open(false);
  await change();
  expect(install()).toMatchObject({ status: 0, isInstalled: true });
});

test('packages from which a program runs are not replaced', async () => {
  const { change, install } = await open(true);
  await change();
  const { stderr, ...refused } = install();
  expect(refused).toEqual({ status: 1, isInstalled: false });
  expect(stderr).toContain(`process ${process.pid} runs from those that are installed: stop it`);
});

test.each(['has ended', 'had the number of one that runs'])(
  'a program that %s holds no packages',
  async (end) => {
    const { build, change, install } = await open(true);
    const [holder = ''] = (await readdir(build)).filter((name) => name.startsWith('held-by-'));
    // No process has this number: the largest one is 4,194,304.
    if (end === 'has ended') await writeFile(join(build, 'held-by-4194305'), '1');
    await writeFile(join(build, holder), '1');
    await change();
    expect(install()).toMatchObject({ status: 0, isInstalled: true });
  },
);

test('packages of another checkout are not replaced through a link', async () => {
  const { change, install, link } = await open(false);
  await change();
  await link();
  const { stderr, ...refused } = install();
  expect(refused).toEqual({ status: 1, isInstalled: false });
  expect(stderr).toContain('node_modules is a link');
});
