/**
 * The data folder: its location, its secrets and the log of the functions.
 *
 * One process uses it at a time, since the table and the objects in it are indexed in memory. Files that only the owner
 * may read are created with that mode, not changed to it afterwards.
 */

import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createWriteStream, existsSync, openSync, renameSync, statSync, type WriteStream } from 'node:fs';
import { access, constants, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { finished } from 'node:stream/promises';

const ownFolder = 0o700;
/** Sandboxes run as other users and must pass through it; no other user can list it. */
const passableFolder = 0o711;
const ownFile = 0o600;

/** `--dir`, `SALLYPORT_HOME`, `./.sallyport`, `~/.sallyport`; if neither of the last two exists, `./.sallyport` is created. */
export const findHome = (named: string | undefined, cwd: string, userHome: string = homedir()): string => {
  if (named !== undefined) return resolve(cwd, named);
  const candidates = [join(cwd, '.sallyport'), join(userHome, '.sallyport')];
  return candidates.find((folder) => existsSync(folder)) ?? join(cwd, '.sallyport');
};

export class ForeignFolder extends Error {
  constructor(home: string, { owner, user }: { readonly owner: number; readonly user: number }) {
    super(
      `${home} belongs to user ${owner}, and this is user ${user}: name another folder with --dir, or hand it over with "sudo chown -R ${user} ${home}"`,
    );
    this.name = 'ForeignFolder';
  }
}

export const makeHome = async (home: string): Promise<void> => {
  await makeFolders(home, passableFolder);
  await refuseForeign(home);
  await makeFolders(join(home, 'logs'), ownFolder);
};

/** Root could write it, but would leave files there that its owner cannot read. */
const refuseForeign = async (home: string): Promise<void> => {
  const user = process.getuid?.() ?? 0;
  const { uid: owner } = await stat(home);
  if (owner === user) return;
  const refusal = await access(home, constants.W_OK).catch((cause: unknown) => cause);
  if (user === 0 || refusal !== undefined) throw new ForeignFolder(home, { owner, user });
};

/**
 * With the folders above it. The option `recursive` of Node never ends below a file system that takes no folder and says that it
 * lacks one, as `/proc` does.
 */
const makeFolders = async (folder: string, mode: number): Promise<void> => {
  if (existsSync(folder)) return;
  await makeFolders(dirname(folder), mode);
  await mkdir(folder, { mode }).catch((error: unknown) => {
    // Another start has made it concurrently.
    if (!existsSync(folder)) throw error;
  });
};

/** A secret of this folder: created at the first start and read at every later one. */
export const loadSecret = async (home: string, name: string, prefix = ''): Promise<string> => {
  const file = join(home, name);
  const stored = await readFile(file, 'utf8').catch(() => '');
  if (stored.trim() !== '') return stored.trim();
  const secret = prefix + randomBytes(32).toString('hex');
  await writeFile(file, `${secret}\n`, { mode: ownFile });
  return secret;
};

/** The file of the key that signs seals of the audit log: created at the first start. */
export const loadSealKey = async (home: string): Promise<string> => {
  const file = join(home, 'audit-seal-key.pem');
  if (existsSync(file) && statSync(file).size > 0) return file;
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  await mkdir(home, { recursive: true, mode: passableFolder });
  // Complete or not there: one that a full disk cut would be taken for the key at every later start.
  const draft = `${file}.tmp`;
  await rm(draft, { force: true });
  await writeFile(draft, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: ownFile });
  await rename(draft, file);
  return file;
};

type FunctionLog = { readonly write: (text: string) => void; readonly close: () => Promise<void> };

const fileBytesMaxDefault = 10 * 1024 * 1024;

/**
 * Opens the log of the functions, which stands for their log groups: a file of bounded size. When it is full it is
 * renamed to `<name>.1`, which replaces the one before.
 */
export const openFunctionLog = (file: string, fileBytesMax = fileBytesMaxDefault): FunctionLog => {
  let stream = openStream(file);
  let bytes = statSync(file).size;
  /** A failure here is met by the next line again: neither a full disk nor a deleted folder stops the cloud. */
  const reopen = (): void => {
    stream.end();
    attempt(() => {
      if (bytes > fileBytesMax) renameSync(file, `${file}.1`);
    });
    attempt(() => {
      stream = openStream(file);
      bytes = 0;
    });
  };
  return {
    write: (text) => {
      if (bytes > fileBytesMax || !stream.writable) reopen();
      bytes += Buffer.byteLength(text);
      stream.write(text);
    },
    close: async () => {
      stream.end();
      await finished(stream).catch(() => undefined);
    },
  };
};

const attempt = (step: () => void): void => {
  try {
    step();
  } catch {
    // As its caller says.
  }
};

/** Opens at once, so that there is a file to rename. An error ends the stream, and drops its line. */
const openStream = (file: string): WriteStream =>
  createWriteStream(file, { fd: openSync(file, 'a', 0o600) }).on('error', () => undefined);
