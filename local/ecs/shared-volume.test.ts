/** Which folders and guest paths are taken; sandboxes that use one are in tests/escape. */
import { mkdir, mkdtemp, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { guestPathProblem, prepareSharedVolume } from './shared-volume.ts';

const folder = async (mode = 0o755): Promise<string> => {
  const path = join(await mkdtemp(join(tmpdir(), 'sallyport-shared-')), 'shared');
  await mkdir(path, { mode });
  return path;
};

test.each([['/shared'], ['/data/team'], ['/workspaces'], ['/mnt']])('%s may be a guest path', (path) => {
  expect(guestPathProblem(path)).toBe(undefined);
});

test.each([
  ['shared', 'the guest path shared is not absolute'],
  ['/workspace', 'the guest path /workspace collides with /workspace'],
  ['/workspace/shared', 'the guest path /workspace/shared collides with /workspace'],
  ['/tmp', 'the guest path /tmp collides with /tmp'],
  ['/usr/share', 'the guest path /usr/share collides with /usr'],
  ['/etc', 'the guest path /etc collides with /etc'],
  ['/proc', 'the guest path /proc collides with /proc'],
  ['/dev/shm', 'the guest path /dev/shm collides with /dev'],
  ['/run', 'the guest path /run collides with /run'],
  ['/opt/sallyport', 'the guest path /opt/sallyport collides with /opt'],
  ['/lib', 'the guest path /lib collides with /lib'],
  ['/', 'the guest path / is not plain: no trailing slash, no dots, not the root'],
  ['/a/../etc', 'the guest path /a/../etc is not plain: no trailing slash, no dots, not the root'],
  ['/shared/', 'the guest path /shared/ is not plain: no trailing slash, no dots, not the root'],
])('%s is refused as a guest path', (path, line) => {
  expect(guestPathProblem(path)).toBe(line);
});

test('a host folder that is not there, or is a file, is refused with one line', async () => {
  const parent = await folder();
  const file = join(parent, 'file');
  await writeFile(file, '');
  const prepare = (hostPath: string) => prepareSharedVolume({ hostPath, guestPath: '/shared' }, 'bubblewrap');
  await expect(prepare(join(parent, 'none'))).rejects.toThrow(/^the shared volume .*none does not exist$/);
  await expect(prepare(file)).rejects.toThrow(/^the shared volume .*file is no folder$/);
  await expect(prepare('shared')).rejects.toThrow('the shared volume shared is no absolute path');
});

test.runIf(process.getuid?.() === 0)('as root a folder below a closed one is refused', async () => {
  const hostPath = await folder();
  await expect(prepareSharedVolume({ hostPath, guestPath: '/shared' }, 'bubblewrap')).rejects.toThrow(
    /cannot be written by sandboxes: make it and the folders above it accessible$/,
  );
});

test('for Docker a folder that we own is writable for everyone and nobody removes what is not theirs', async () => {
  const hostPath = await folder();
  await prepareSharedVolume({ hostPath, guestPath: '/shared' }, 'docker');
  expect((await stat(hostPath)).mode & 0o7777).toBe(0o1777);
});
