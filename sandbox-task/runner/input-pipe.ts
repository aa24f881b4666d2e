/**
 * A pipe for the input of a user process. Node gives a child a socket, which no program can open by name (unix(7): ENXIO), so that
 * `cat /dev/stdin` would fail. A FIFO would have it wait for ever where the input has ended before: fifo(7).
 *
 * Node makes no pipe without a name. A shell makes one, and both ends are opened through its `/proc/<pid>/fd`, where the name of a
 * pipe is good for either. One is made ahead of its use, since a shell is a program.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, openSync, readlinkSync } from 'node:fs';
import { Socket } from 'node:net';

export type InputPipe = {
  /** A descriptor for the child. It blocks, as programs expect of their input. */
  readonly reader: number;
  readonly writer: Socket;
};

/** Its pipe is its descriptor 3. It prints a line when that is there, and ends with its own input. */
const holding = 'exec 3< <(:); echo; read -r';
const path = '/usr/local/bin:/usr/bin:/bin';
const readyMsMax = 5000;
const pollMs = 1;

let spare: InputPipe | undefined;
let isPreparing = false;

/** Undefined where none can be made, such as at the user's limit of processes. */
export const takeInputPipe = (): InputPipe | undefined => {
  const taken = spare ?? makeNow();
  spare = undefined;
  return taken;
};

/** Makes that of the next process. */
export const prepareInputPipe = (): void => {
  if (isPreparing || spare !== undefined) return;
  const holder = startHolder();
  isPreparing = true;
  holder.stdout?.once('data', () => {
    spare ??= openFrom(holder);
    release(holder);
  });
  for (const end of ['close', 'error'] as const)
    holder.once(end, () => {
      isPreparing = false;
    });
};

/** The child has its own by now. */
export const closeReader = ({ reader }: InputPipe): void => closeSync(reader);

const startHolder = (): ChildProcess => {
  const holder = spawn('bash', ['-c', holding], { stdio: ['pipe', 'pipe', 'ignore'], env: { PATH: path } });
  // Nothing can be started, or a program killed it: then there is no pipe.
  holder.on('error', () => undefined);
  holder.stdin.on('error', () => undefined);
  return holder;
};

const release = (holder: ChildProcess): void => void holder.stdin?.end();

/** The start of a process waits for no event: the shell is looked at until it has its pipe. */
const makeNow = (): InputPipe | undefined => {
  const holder = startHolder();
  const clock = new Int32Array(new SharedArrayBuffer(4));
  const deadline = performance.now() + readyMsMax;
  while (!hasPipe(holder) && holder.pid !== undefined && performance.now() < deadline)
    Atomics.wait(clock, 0, 0, pollMs);
  const made = openFrom(holder);
  release(holder);
  return made;
};

const pipeOf = ({ pid }: ChildProcess): string => `/proc/${pid}/fd/3`;

const hasPipe = (holder: ChildProcess): boolean => {
  try {
    return readlinkSync(pipeOf(holder)).startsWith('pipe:');
  } catch {
    // Not yet.
    return false;
  }
};

const openFrom = (holder: ChildProcess): InputPipe | undefined => {
  if (!hasPipe(holder)) return undefined;
  try {
    const reader = openSync(pipeOf(holder), constants.O_RDONLY);
    const writer = openSync(pipeOf(holder), constants.O_WRONLY);
    return { reader, writer: new Socket({ fd: writer, readable: false, writable: true }) };
  } catch {
    // A program killed the shell, or no descriptor is left.
    return undefined;
  }
};
