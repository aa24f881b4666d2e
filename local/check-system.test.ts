/** A start elsewhere than on Linux, which `uname` of the test says. */
import { spawnSync } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const startOn = async (system: string) => {
  const folder = await mkdtemp(join(tmpdir(), 'system-'));
  await mkdir(join(folder, 'local'));
  await copyFile(join(import.meta.dirname, 'check-system.sh'), join(folder, 'local', 'check-system.sh'));
  await writeFile(join(folder, 'local', 'install-packages.sh'), 'echo installed');
  await writeFile(join(folder, 'uname'), `#!/bin/sh\necho ${system}\n`);
  await chmod(join(folder, 'uname'), 0o755);
  const manifest = await readFile(join(import.meta.dirname, '..', 'package.json'), 'utf8');
  const { scripts } = JSON.parse(manifest) as { readonly scripts: { readonly prestart: string } };
  const ended = spawnSync('sh', ['-c', scripts.prestart], {
    ...{ cwd: folder, env: { PATH: `${folder}:/usr/bin:/bin` } },
    encoding: 'utf8',
  });
  await rm(folder, { recursive: true });
  return { status: ended.status, out: ended.stdout, err: ended.stderr };
};

test('on Linux the packages are installed', async () => {
  expect(await startOn('Linux')).toEqual({ status: 0, out: 'installed\n', err: '' });
});

test.each(['Darwin', 'MINGW64_NT-10.0'])(
  'on %s one line refuses it, and nothing is installed',
  async (system) => {
    expect(await startOn(system)).toEqual({
      ...{ status: 1, out: '' },
      err: expect.stringMatching(/^npm start needs Linux: [^\n]*\n$/),
    });
  },
);
