/**
 * Pipes for the output of a user process. Node gives a child sockets, which no program can open by name (unix(7): ENXIO), so
 * that `> /dev/stderr`, `tee /dev/stderr` and `curl -o /dev/stdout` would fail. A FIFO opens through `/proc/self/fd`.
 *
 * Two are made ahead of their use, since `mkfifo` is a program. Their names are removed once both ends are open.
 */
import { execFile, spawnSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

type OutputPipe = {
  readonly reader: Socket;
  /** A descriptor for the child. It blocks, as programs expect of their output. */
  readonly writer: number;
};

type OutputPipes = { readonly stdout: OutputPipe; readonly stderr: OutputPipe };

let spare: OutputPipes | undefined;
let isPreparing = false;

/** Undefined where none can be made, such as at the user's limit of processes. */
export const takeOutputPipes = (): OutputPipes | undefined => {
  const taken = spare ?? makeNow();
  spare = undefined;
  return taken;
};

/** Makes those of the next process. */
export const prepareOutputPipes = (): void => {
  const folder = isPreparing || spare !== undefined ? undefined : makeFolder();
  if (folder === undefined) return;
  isPreparing = true;
  execFile('mkfifo', namesIn(folder), (error) => {
    isPreparing = false;
    if (error === null) spare = openIn(folder);
    removeFolder(folder);
  });
};

/** The child has its own by now. */
export const closeWriters = ({ stdout, stderr }: OutputPipes): void => {
  closeSync(stdout.writer);
  closeSync(stderr.writer);
};

const makeNow = (): OutputPipes | undefined => {
  const folder = makeFolder();
  if (folder === undefined) return undefined;
  const { status } = spawnSync('mkfifo', namesIn(folder), { stdio: 'ignore' });
  const made = status === 0 ? openIn(folder) : undefined;
  removeFolder(folder);
  return made;
};

const namesIn = (folder: string): string[] => [join(folder, 'stdout'), join(folder, 'stderr')];

const makeFolder = (): string | undefined => {
  try {
    return mkdtempSync(join(tmpdir(), '.output-'));
  } catch {
    // The disk is full: sockets need none.
    return undefined;
  }
};

const removeFolder = (folder: string): void => {
  try {
    rmSync(folder, { recursive: true });
  } catch {
    // A program removed it.
  }
};

const openIn = (folder: string): OutputPipes | undefined => {
  const [stdout = '', stderr = ''] = namesIn(folder);
  try {
    return { stdout: openPipe(stdout), stderr: openPipe(stderr) };
  } catch {
    // A program removed them, or no descriptor is left.
    return undefined;
  }
};

/** The reader first, without waiting for a writer; then a writer need not wait either. */
const openPipe = (path: string): OutputPipe => {
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY);
  return { reader: new Socket({ fd: reader, readable: true, writable: false }), writer };
};
