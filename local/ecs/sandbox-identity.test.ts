/** Two instances on one machine never have a user of sandboxes in common, however they start and end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { claimIdentities } from './sandbox-identity.ts';

const isRoot = process.getuid?.() === 0;
const children: ChildProcess[] = [];
/** A user counts as long as a process of it is there. */
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});

const makeFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'sallyport-users-'));
const claim = (folder: string, firstBlock = 7) => claimIdentities({ folder, firstBlock });
const uidOf = (identities: ReturnType<typeof claimIdentities>) => identities.acquire(false)?.uid;

const start = (program: string, ...rest: readonly string[]): ChildProcess => {
  const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  return child;
};
/** Claims, prints a user id, and lives on. */
const other = join(import.meta.dirname, 'fixtures', 'claim-program.ts');
const uidOfOther = async (child: ChildProcess): Promise<number> => {
  const [chunk] = (await once(child.stdout ?? process.stdin, 'data')) as [Buffer];
  return Number(chunk.toString());
};

test.runIf(isRoot)('two claims of one process are two blocks, and a released one is free again', async () => {
  const folder = await makeFolder();
  const [one, two] = [claim(folder), claim(folder)];
  expect([uidOf(one), uidOf(two)]).toEqual([1_761_070_000, 1_761_080_000]);
  one.close();
  expect(uidOf(claim(folder))).toBe(1_761_070_000);
});

test.runIf(isRoot)(
  'concurrent instances have a block each, and a killed one leaves its block to others',
  async () => {
    const folder = await makeFolder();
    const others = Array.from({ length: 4 }, () => start(process.execPath, other, folder, '7'));
    const uids = await Promise.all(others.map(uidOfOther));
    const mine = uidOf(claim(folder));
    expect([...uids, mine].toSorted()).toEqual([
      1_761_070_000, 1_761_080_000, 1_761_090_000, 1_761_100_000, 1_761_110_000,
    ]);
    const first = others[uids.indexOf(1_761_070_000)];
    first?.kill('SIGKILL');
    await once(first ?? process, 'exit');
    expect(uidOf(claim(folder))).toBe(1_761_070_000);
  },
);

test.runIf(isRoot)('a block with a running process is skipped', async () => {
  const folder = await makeFolder();
  const left = start('setpriv', '--reuid=1761070003', 'sh', '-c', 'echo 1; exec sleep 60');
  await uidOfOther(left);
  expect(uidOf(claim(folder))).toBe(1_761_080_000);
});

test.runIf(isRoot)('a user id belongs to one live sandbox only', async () => {
  const identities = claim(await makeFolder());
  const [one, two] = [identities.acquire(false), identities.acquire(true)];
  expect([one, two]).toEqual([
    { uid: 1_761_070_000, gid: 1_761_070_000 },
    { uid: 1_761_070_001, gid: 1_760_999_999 },
  ]);
  identities.release(one);
  for (let count = 2; count < 10_000; count += 1) identities.acquire(false);
  expect(uidOf(identities)).toBe(1_761_070_000);
  expect(() => identities.acquire(false)).toThrow('all 10000 user ids of sandboxes are in use');
});

test.runIf(isRoot)('a folder that others can write, or that is a link, is refused', async () => {
  const open = await makeFolder();
  await chmod(open, 0o777);
  expect(() => claim(open)).toThrow(`${open} must be a folder that only root may write`);
  const folder = await makeFolder();
  await mkdir(join(folder, 'real'));
  const link = join(folder, 'link');
  await symlink('real', link);
  expect(() => claim(link)).toThrow(`${link} must be a folder that only root may write`);
});
