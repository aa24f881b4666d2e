/** The folder of running sandboxes: no cleaner of old files enters it, and it is on a disk. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderOnDisk, makeRunFolder } from './run-folder.ts';

/** As systemd-tmpfiles asks before it deletes what is old in a folder. */
const isOpenToCleaners = (folder: string): boolean =>
  spawnSync('flock', ['--exclusive', '--nonblock', folder, 'true']).status === 0;

test('files of a run are kept from cleaners until it ends, however old they are', async () => {
  const home = await mkdtemp(join(tmpdir(), 'run-'));
  expect(isOpenToCleaners(home)).toBe(true);
  const run = await makeRunFolder(home);
  expect(isOpenToCleaners(run.folder)).toBe(false);
  await run.remove();
  expect(existsSync(run.folder)).toBe(false);
  await rm(home, { recursive: true });
});

const [tmpfs, ext4] = [0x01021994, 0xef53];

test.each([
  ['/tmp', ext4, '/tmp'],
  ['/tmp', tmpfs, '/var/tmp'],
  // The choice of a person.
  ['/dev/shm', tmpfs, '/dev/shm'],
])('in %s of type %i it is below %s', (temporary, type, folder) => {
  expect(folderOnDisk(temporary, () => type)).toBe(folder);
});
