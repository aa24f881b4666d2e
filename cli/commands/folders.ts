/**
 * `files` for folders: created, moved, copied, linked to, and transferred as archives, which the machine's `tar` packs and
 * unpacks.
 *
 * An upload packs its archive into a temporary file first, since its size must be sent with its first part. A download is
 * unpacked as it comes, into a folder that is made for it.
 */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { SandboxFiles } from '#sdk/sandbox-files.ts';
import { abortable } from '../runtime/abort.ts';
import { type Call, type Command, flag, seconds, sessionAndPath, value } from '../runtime/command.ts';
import { failure, wrongUsage } from '../runtime/failure.ts';
import type { Host } from '../runtime/host.ts';

export const filesOf = async (call: Call): Promise<SandboxFiles> =>
  new SandboxFiles(await call.client(), call.positionals[0] ?? '');

type TarOptions = { readonly input?: Readable; readonly signal?: AbortSignal };

/** The machine's `tar`; its complaint is the failure's message. Its process has ended when this ends, also after an abort. */
const runTar = async (args: readonly string[], { input, signal }: TarOptions): Promise<void> => {
  signal?.throwIfAborted();
  const child = spawn('tar', args, { stdio: [input === undefined ? 'ignore' : 'pipe', 'ignore', 'pipe'] });
  const kill = (): unknown => child.kill();
  signal?.addEventListener('abort', kill, { once: true });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
    said = (said + piece).slice(-2000);
  });
  const ended = new Promise<number | null>((settle, reject) =>
    child.once('close', settle).once('error', reject),
  );
  const given =
    input === undefined || child.stdin === null ? Promise.resolve() : pipeline(input, child.stdin);
  const [outcome, sent] = await Promise.allSettled([ended, given]);
  signal?.removeEventListener('abort', kill);
  signal?.throwIfAborted();
  if (outcome.status === 'rejected')
    throw failure('tar_failed', 'the program tar cannot be started', { cause: outcome.reason });
  if (outcome.value !== 0) throw failure('tar_failed', `tar ended with ${outcome.value}: ${said.trim()}`);
  if (sent.status === 'rejected')
    throw failure('download_failed', 'the download of the archive was interrupted', { cause: sent.reason });
};

/** The path of an archive of a local folder, for `use`, and a signal of its interruption. The archive is removed in any case. */
export const withArchive = async (
  host: Host,
  folder: string,
  use: (archive: string, signal: AbortSignal) => Promise<number>,
): Promise<number> => {
  const { signal, release } = abortable(host, 'the folder was not sent');
  const scratch = await mkdtemp(join(tmpdir(), 'sallyport-put-'));
  try {
    const path = join(scratch, 'folder.tar.gz');
    await runTar(['-czf', path, '-C', folder, '.'], { signal });
    return await use(path, signal);
  } finally {
    await rm(scratch, { recursive: true, force: true });
    release();
  }
};

/** Without a local path, into a folder of the same name here. */
export const getFolder = async (call: Call): Promise<undefined> => {
  const [, path = '', local = basename(path)] = call.positionals;
  if (local === '' || local === '-') throw wrongUsage('a folder needs a local path');
  const body = await (await filesOf(call)).download(path, { format: 'stream' });
  const target = resolve(call.host.folder, local);
  await mkdir(target, { recursive: true });
  const input = Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]);
  await runTar(['-xzf', '-', '--no-same-owner', '-C', target], { input });
  call.output.result({ path: target }, () => [`${target}: unpacked`]);
};

const relocate =
  (op: 'move' | 'copy') =>
  async (call: Call): Promise<undefined> => {
    const [, path = '', to = ''] = call.positionals;
    const files = await filesOf(call);
    await files[op](path, to, { overwrite: call.isSet('overwrite') });
    const done = op === 'move' ? 'Moved' : 'Copied';
    call.output.result({ path: to }, () => [`${done} ${path} to ${to}.`]);
  };

const makeFolder = async (call: Call): Promise<undefined> => {
  const [, path = ''] = call.positionals;
  await (await filesOf(call)).mkdir(path);
  call.output.result({ path }, () => [`Made ${path}.`]);
};

const linkSecondsDefault = 3600;

const makeLink = async (call: Call): Promise<undefined> => {
  const [, path = ''] = call.positionals;
  const expiresInSeconds = seconds(call.text('expires'), 'expires') ?? linkSecondsDefault;
  const method = call.isSet('upload') ? 'PUT' : 'GET';
  const link = await (await filesOf(call)).link(path, { method, expiresInSeconds });
  call.output.result(link, () => [link.url]);
};

const relocation = {
  positionals: { ...sessionAndPath, min: 3, max: 3 },
  options: { overwrite: flag },
} as const;

export const folderCommands: readonly Command[] = [
  {
    name: 'files mkdir',
    usage: '<session> <path>',
    summary: 'Create a folder and its missing parent folders',
    positionals: sessionAndPath,
    run: makeFolder,
  },
  {
    name: 'files mv',
    usage: '<session> <path> <new path> [--overwrite]',
    summary: 'Move or rename a file or folder',
    ...relocation,
    run: relocate('move'),
  },
  {
    name: 'files cp',
    usage: '<session> <path> <new path> [--overwrite]',
    summary: 'Copy a file or folder',
    ...relocation,
    run: relocate('copy'),
  },
  {
    name: 'files link',
    usage: '<session> <path> [--expires <time>] [--upload]',
    summary: 'Create an address that reads a file without a token',
    details: [
      'It expires after an hour, or after a time such as 10m. With --upload it writes the file, once.',
    ],
    options: { expires: value, upload: flag },
    positionals: sessionAndPath,
    run: makeLink,
  },
];
