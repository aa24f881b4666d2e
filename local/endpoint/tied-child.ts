/**
 * A child process that cannot outlive this one, not even when this one gets SIGKILL.
 *
 * `setpriv --pdeathsig` asks the kernel for that and replaces itself by the program. Where util-linux is
 * missing, a shell holds the other end of a pipe and kills the program when the pipe closes; that shell
 * survives the program's own end, so there `exited` reports nothing until `stop`.
 */
import { type ChildProcess, type SendHandle, type Serializable, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

export type TiedChild = {
  readonly pid: number | undefined;
  /** What the program wrote to stderr so far, its last bytes only. */
  readonly complaint: () => string;
  readonly exited: Promise<void>;
  /** Nothing is said to a child that is gone, or that was started without `isHeard`. */
  readonly tell: (message: Serializable) => void;
  readonly listen: (hear: (message: unknown, handle: SendHandle | undefined) => void) => void;
  readonly stop: () => Promise<void>;
};

export type TiedChildOptions = {
  readonly tie?: 'kernel' | 'pipe';
  /** The program is one of Node.js, and both sides send messages. */
  readonly isHeard?: boolean;
};

const complaintCharactersMax = 2000;

export const startTiedChild = (
  program: string,
  parameters: readonly string[],
  { tie = hasSetpriv() ? 'kernel' : 'pipe', isHeard = false }: TiedChildOptions = {},
): TiedChild => {
  const [command, ...rest] =
    tie === 'kernel' ? throughKernel(program, parameters) : throughPipe(program, parameters);
  const child = spawn(command, rest, {
    stdio: ['pipe', 'ignore', 'pipe', ...(isHeard ? (['ipc'] as const) : [])],
  });
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  return {
    pid: child.pid,
    complaint: collectComplaint(child),
    exited,
    tell: (message) => {
      // The end of the child is told by `exited`, not by each message that it does not get.
      if (child.connected) child.send(message, () => undefined);
    },
    listen: (hear) => {
      child.on('message', hear);
    },
    stop: () => end(child, tie),
  };
};

const hasSetpriv = (): boolean => spawnSync('setpriv', ['--version'], { stdio: 'ignore' }).status === 0;

const throughKernel = (program: string, parameters: readonly string[]): [string, ...string[]] => [
  'setpriv',
  '--pdeathsig',
  'KILL',
  '--',
  program,
  ...parameters,
];

/** The program gets /dev/null as stdin, since a shell gives that to whatever it runs in the background. */
const throughPipe = (program: string, parameters: readonly string[]): [string, ...string[]] => [
  'sh',
  '-c',
  '"$@" & read -r _; kill -9 $!; wait',
  'tied',
  program,
  ...parameters,
];

const collectComplaint = (child: ChildProcess): (() => string) => {
  let text = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    text = (text + chunk.toString()).slice(-complaintCharactersMax);
  });
  return () => text.trim();
};

const end = async (child: ChildProcess, tie: 'kernel' | 'pipe'): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exit = once(child, 'exit');
  if (tie === 'kernel') child.kill('SIGTERM');
  else child.stdin?.end();
  await exit;
};
