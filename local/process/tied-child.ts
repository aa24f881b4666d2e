/**
 * A child process that ends when this process ends, even by SIGKILL, and not before: the terminal's Ctrl-C reaches this process
 * alone.
 *
 * `setpriv --pdeathsig` asks the kernel for that and then becomes the program. Without util-linux a shell holds the
 * other end of a pipe and kills the program when the pipe closes. That shell outlives the program, so there `exited`
 * resolves only after `stop`.
 */
import { type ChildProcess, type SendHandle, type Serializable, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

export type TiedChild = {
  readonly pid: number | undefined;
  /** The last characters that the program wrote to stderr. */
  readonly errorOutput: () => string;
  readonly exited: Promise<void>;
  /** Does nothing once the child has ended, or without `hasMessages`. */
  readonly send: (message: Serializable) => void;
  readonly onMessage: (receive: (message: unknown, handle: SendHandle | undefined) => void) => void;
  readonly stop: () => Promise<void>;
};

type TiedChildOptions = {
  readonly tie?: 'kernel' | 'pipe';
  /** The program is one of Node.js, and both sides send messages. */
  readonly hasMessages?: boolean;
};

const errorCharactersMax = 2000;

export const startTiedChild = (
  program: string,
  parameters: readonly string[],
  { tie = hasSetpriv() ? 'kernel' : 'pipe', hasMessages = false }: TiedChildOptions = {},
): TiedChild => {
  const [command, ...rest] =
    tie === 'kernel' ? throughKernel(program, parameters) : throughPipe(program, parameters);
  const child = spawn(command, rest, {
    stdio: ['pipe', 'ignore', 'pipe', ...(hasMessages ? (['ipc'] as const) : [])],
    detached: true,
  });
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  return {
    pid: child.pid,
    errorOutput: collectErrorOutput(child),
    exited,
    send: (message) => {
      // `exited` reports the end of the child; a message that is lost with it does not.
      if (child.connected) child.send(message, () => undefined);
    },
    onMessage: (receive) => {
      child.on('message', receive);
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

/** The program gets /dev/null as stdin, as any background process of a shell. */
const throughPipe = (program: string, parameters: readonly string[]): [string, ...string[]] => [
  'sh',
  '-c',
  '"$@" & read -r _; kill -9 $!; wait',
  'tied',
  program,
  ...parameters,
];

const collectErrorOutput = (child: ChildProcess): (() => string) => {
  let text = '';
  child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
    text = (text + piece).slice(-errorCharactersMax);
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
