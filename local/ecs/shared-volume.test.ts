/** Shared volumes: accepted folders and guest paths. Sandboxes that use one are in tests/escape. */
import { mkdir, mkdtemp, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { claimIdentities } from './sandbox-identity.ts';
import { guestPathProblem, prepareSharedVolume } from './shared-volume.ts';

const identities = claimIdentities();
afterAll(() => identities.close());
const bubblewrap = { name: 'bubblewrap', identities } as const;

const folder = async (mode = 0o755): Promise<string> => {
  const path = join(await mkdtemp(join(tmpdir(), 'sallyport-shared-')), 'shared');
  await mkdir(path, { mode });
  return path;
};

test.each([['/shared'], ['/data/team'], ['/workspaces'], ['/mnt']])('%s may be a guest path', (path) => {
  expect(guestPathProblem(path)).toBe(undefined);
});

test.each([
  ['shared', 'an absolute path'],
  ['/workspace', 'a path outside /workspace, which it would hide'],
  ['/workspace/shared', 'a path outside /workspace, which it would hide'],
  ['/tmp', 'a path outside /tmp, which it would hide'],
  ['/usr/share', 'a path outside /usr, which it would hide'],
  ['/etc', 'a path outside /etc, which it would hide'],
  ['/proc', 'a path outside /proc, which it would hide'],
  ['/dev/shm', 'a path outside /dev, which it would hide'],
  ['/run', 'a path outside /run, which it would hide'],
  ['/opt/sallyport', 'a path outside /opt, which it would hide'],
  ['/lib', 'a path outside /lib, which it would hide'],
  ['/', 'a plain path: no trailing slash, no dots, not the root'],
  ['/a/../etc', 'a plain path: no trailing slash, no dots, not the root'],
  ['/shared/', 'a plain path: no trailing slash, no dots, not the root'],
])('%s is refused as a guest path, by the name of its variable', (path, allowed) => {
  expect(guestPathProblem(path)).toBe(
    `MSB_SHARED_VOLUME_GUEST_PATH="${path}" is not allowed: set it to ${allowed}`,
  );
});

test('a host folder that is missing, or is a file, is refused with one line that names the variable', async () => {
  const parent = await folder();
  const file = join(parent, 'file');
  await writeFile(file, '');
  const prepare = (hostPath: string) => prepareSharedVolume({ hostPath, guestPath: '/shared' }, bubblewrap);
  const line = (path: string, allowed: string) =>
    new Error(`MSB_SHARED_VOLUME_PATH="${path}" is not allowed: set it to ${allowed}`);
  const none = join(parent, 'none');
  await expect(prepare(none)).rejects.toThrow(line(none, 'a folder that exists'));
  await expect(prepare(file)).rejects.toThrow(line(file, 'a folder that exists'));
  await expect(prepare('shared')).rejects.toThrow(line('shared', 'an absolute path'));
});

test.runIf(process.getuid?.() === 0)('as root a folder below a closed one is refused', async () => {
  const hostPath = await folder();
  await expect(prepareSharedVolume({ hostPath, guestPath: '/shared' }, bubblewrap)).rejects.toThrow(
    /set it to a folder that sandboxes can write: check the permissions of it and of its parent folders$/,
  );
});

test('for Docker an owned folder is writable for all, and only owners delete files', async () => {
  const hostPath = await folder();
  await prepareSharedVolume({ hostPath, guestPath: '/shared' }, { name: 'container', identities });
  expect((await stat(hostPath)).mode & 0o7777).toBe(0o1777);
});
