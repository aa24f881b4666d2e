/** The data folder: its location, its modes, its secrets, its lock and its log. */
import { spawnSync } from 'node:child_process';
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findHome, loadSealKey, loadSecret, makeHome, openFunctionLog } from './home.ts';
import { FolderInUse, lockFolder } from './process/folder-lock.ts';

const makeFolder = () => mkdtemp(join(tmpdir(), 'sallyport-home-'));

test('the named folder is used, else an existing one, else a new one in the working folder', async () => {
  const [cwd, user] = [await makeFolder(), await makeFolder()];
  expect(findHome('data', cwd, user)).toBe(join(cwd, 'data'));
  expect(findHome(undefined, cwd, user)).toBe(join(cwd, '.sallyport'));
  await mkdir(join(user, '.sallyport'));
  expect(findHome(undefined, cwd, user)).toBe(join(user, '.sallyport'));
  await mkdir(join(cwd, '.sallyport'));
  expect(findHome(undefined, cwd, user)).toBe(join(cwd, '.sallyport'));
});

test('a new folder can be traversed but not listed by others, and its logs are private', async () => {
  const home = join(await makeFolder(), 'data');
  await makeHome(home);
  const modes = await Promise.all(
    [home, join(home, 'logs')].map(async (path) => (await stat(path)).mode & 0o777),
  );
  expect(modes).toEqual([0o711, 0o700]);
});

test.each(['/proc/sallyport', '/proc/sallyport/data', '/dev/null/data'])(
  '%s, which no file system takes, is refused and not waited for',
  async (home) => {
    await expect(makeHome(home)).rejects.toThrow();
  },
);

/** `user`: a number that the program takes before it makes the folder, where it may. */
const refusalOf = (home: string, user: number): string => {
  const code = `
    const { makeHome } = await import('./home.ts');
    if (process.getuid() === 0) process.setuid(${user});
    await makeHome(${JSON.stringify(home)}).catch(({ message }) => process.stdout.write(message));`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
  });
  return stdout;
};

test('a folder that another user owns is refused with the command that hands it over', async () => {
  expect(refusalOf('/usr', 65_534)).toMatch(
    /^\/usr belongs to user 0, and this is user (\d+): name another folder with --dir, or hand it over with "sudo chown -R \1 \/usr"$/,
  );
});

test.runIf(process.getuid?.() === 0)(
  'root leaves no files in a folder of a user, and a folder that all may write has no owner to ask',
  async () => {
    const home = await makeFolder();
    await chown(home, 65_534, 65_534);
    expect(refusalOf(home, 0)).toContain(`belongs to user 65534, and this is user 0`);
    expect(await readdir(home)).toEqual([]);
    await chown(home, 0, 0);
    await chmod(home, 0o777);
    expect(refusalOf(home, 65_534)).toBe('');
    expect(await readdir(home)).toEqual(['logs']);
  },
);

test('two starts may make a folder at once', async () => {
  const home = join(await makeFolder(), 'a', 'b');
  await Promise.all([makeHome(home), makeHome(home)]);
  expect((await stat(join(home, 'logs'))).isDirectory()).toBe(true);
});

test('a secret is created once, for the owner only', async () => {
  const home = await makeFolder();
  const secret = await loadSecret(home, 'token', 'sp_');
  expect(secret).toMatch(/^sp_[0-9a-f]{64}$/);
  expect(await loadSecret(home, 'token', 'sp_')).toBe(secret);
  expect((await stat(join(home, 'token'))).mode & 0o777).toBe(0o600);
});

test('a folder is locked once, and is free after the release', async () => {
  const home = await makeFolder();
  const lock = lockFolder(home);
  expect(() => lockFolder(home)).toThrow(FolderInUse);
  lock.release();
  lockFolder(home).release();
  expect(await readdir(home)).toEqual([]);
});

test.each(['', '{"pid":', '{"pid":0}', '{"pid":1,"startedAt":"before the last boot"}'])(
  'a lock of a dead process is taken over: %s',
  async (content) => {
    const home = await makeFolder();
    await writeFile(join(home, 'lock'), content);
    lockFolder(home).release();
    expect(await readdir(home)).toEqual([]);
  },
);

test('the function log is rotated when it is full, and one old file is kept', async () => {
  const folder = await makeFolder();
  const file = join(folder, 'functions.log');
  const log = openFunctionLog(file, 10);
  for (const text of ['first line\n', 'second line\n', 'third\n']) log.write(text);
  await log.close();
  expect(await readFile(file, 'utf8')).toBe('third\n');
  expect(await readFile(`${file}.1`, 'utf8')).toBe('second line\n');
  expect(await readdir(folder)).toHaveLength(2);
});

test('a log whose file an operator deleted is begun anew when it is full', async () => {
  const folder = await makeFolder();
  const file = join(folder, 'functions.log');
  const log = openFunctionLog(file, 10);
  log.write('first line\n');
  await rm(file);
  log.write('second line\n');
  await log.close();
  expect(await readFile(file, 'utf8')).toBe('second line\n');
});

test('a log whose folder is gone ends no other function, and is written again once the folder is back', async () => {
  const folder = join(await makeFolder(), 'logs');
  await mkdir(folder);
  const file = join(folder, 'functions.log');
  const log = openFunctionLog(file, 10);
  log.write('first line\n');
  await rm(folder, { recursive: true });
  log.write('lost line\n');
  await mkdir(folder);
  log.write('third line\n');
  await log.close();
  expect(await readFile(file, 'utf8')).toBe('third line\n');
});

test('a full disk costs the lines of that time, and not those that follow', async () => {
  const folder = await makeFolder();
  const file = join(folder, 'functions.log');
  await symlink('/dev/full', file);
  const log = openFunctionLog(file);
  log.write('lost line\n');
  // The failure of a write is known in a later turn of the event loop.
  const room = join(folder, 'room');
  await rm(file);
  await symlink(room, file);
  await expect
    .poll(async () => {
      log.write('later line\n');
      return readFile(room, 'utf8').catch(() => '');
    })
    .toContain('later line\n');
  await log.close();
});

test('the key of the seals is made once; a file that a full disk left empty is none', async () => {
  const home = await makeFolder();
  await writeFile(join(home, 'audit-seal-key.pem'), '');
  const file = await loadSealKey(home);
  const key = await readFile(file, 'utf8');
  expect(key).toMatch(/^-----BEGIN PRIVATE KEY-----/);
  await loadSealKey(home);
  expect(await readFile(file, 'utf8')).toBe(key);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readdir(home)).toEqual(['audit-seal-key.pem']);
});
