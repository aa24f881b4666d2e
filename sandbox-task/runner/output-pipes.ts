/**
 * Pipes for the output of a user process. Node gives a child sockets, which no program can open by name (unix(7): ENXIO), so
 * that `> /dev/stderr`, `tee /dev/stderr` and `curl -o /dev/stdout` would fail. A FIFO opens through `/proc/self/fd`.
 *
 * Those of several processes are made at once and ahead of their use, since `mkfifo` is a program, whose start
 * holds up the runner. Their names are removed once both ends are open.
 */
import { execFile, spawnSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

type Pipe = {
  readonly reader: number;
  /** A descriptor for the child. It blocks, as programs expect of their output. */
  readonly writer: number;
};

type OutputPipe = { readonly reader: Socket; readonly writer: number };

type OutputPipes = { readonly stdout: OutputPipe; readonly stderr: OutputPipe };

/** Pipes that one `mkfifo` makes, for eight processes. Each holds two descriptors, and 16 of a user's 16,384 pages (pipe(7)). */
const madeAtOnce = 16;
/** More are made when fewer than these are left. */
const sparesMin = 4;

const spares: Pipe[] = [];
let isPreparing = false;

/** Undefined where none can be made, such as at the user's limit of processes. */
export const takeOutputPipes = (): OutputPipes | undefined => {
  if (spares.length < 2) makeNow();
  const [stdout, stderr] = spares.length < 2 ? [] : spares.splice(0, 2);
  return stdout && stderr && { stdout: opened(stdout), stderr: opened(stderr) };
};

const opened = ({ reader, writer }: Pipe): OutputPipe => ({
  reader: new Socket({ fd: reader, readable: true, writable: false }),
  writer,
});

/** Makes those of the next processes. */
export const prepareOutputPipes = (): void => {
  const folder = isPreparing || spares.length >= sparesMin ? undefined : makeFolder();
  if (folder === undefined) return;
  isPreparing = true;
  execFile('mkfifo', namesIn(folder), (error) => {
    isPreparing = false;
    if (error === null) openIn(folder);
    removeFolder(folder);
  });
};

/** The child has its own by now. */
export const closeWriters = ({ stdout, stderr }: OutputPipes): void => {
  closeSync(stdout.writer);
  closeSync(stderr.writer);
};

const makeNow = (): void => {
  const folder = makeFolder();
  if (folder === undefined) return;
  const { status } = spawnSync('mkfifo', namesIn(folder), { stdio: 'ignore' });
  if (status === 0) openIn(folder);
  removeFolder(folder);
};

const namesIn = (folder: string): string[] =>
  Array.from({ length: madeAtOnce }, (_, number) => join(folder, String(number)));

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

const openIn = (folder: string): void => {
  try {
    for (const path of namesIn(folder)) spares.push(openPipe(path));
  } catch {
    // A program removed them, or no descriptor is left.
  }
};

/** The reader first, without waiting for a writer; then a writer need not wait either. */
const openPipe = (path: string): Pipe => {
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return { reader, writer: openSync(path, constants.O_WRONLY) };
  } catch (error) {
    closeSync(reader);
    throw error;
  }
};
