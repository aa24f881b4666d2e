/**
 * The data folder: where it is, who uses it, and the secrets it keeps.
 *
 * One process per folder, since the table and the objects in it are indexed in memory. What only the owner
 * may read is made that way, not changed afterwards.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

const ownFolder = 0o700;
/** Sandboxes run under another user and must reach their workspaces in here; nobody else can list it. */
const passableFolder = 0o711;
const ownFile = 0o600;

/** `--dir`, `SALLYPORT_HOME`, `./.sallyport`, `~/.sallyport`; where neither of the last two exists, the nearer is made. */
export const findHome = (named: string | undefined, cwd: string, userHome: string = homedir()): string => {
  if (named !== undefined) return resolve(cwd, named);
  const candidates = [join(cwd, '.sallyport'), join(userHome, '.sallyport')];
  return candidates.find((folder) => existsSync(folder)) ?? join(cwd, '.sallyport');
};

export const makeHome = async (home: string): Promise<void> => {
  await mkdir(home, { recursive: true, mode: passableFolder });
  await mkdir(join(home, 'logs'), { recursive: true, mode: ownFolder });
};

/** A secret of this folder: made at the first start, the same at every later one. */
export const keepSecret = async (home: string, name: string, prefix = ''): Promise<string> => {
  const file = join(home, name);
  const kept = await readFile(file, 'utf8').catch(() => '');
  if (kept.trim() !== '') return kept.trim();
  const secret = prefix + randomBytes(32).toString('hex');
  await writeFile(file, `${secret}\n`, { mode: ownFile });
  return secret;
};
