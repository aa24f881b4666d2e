/** `sallyport`: the entry of the command line client. */
import { homedir } from 'node:os';
import { runProgram } from './program.ts';
import type { Host } from './runtime/host.ts';

const closedListeners = new Set<() => void>();

const host: Host = {
  // biome-ignore lint/style/noProcessEnv: the one read of this program's environment
  variables: process.env,
  folder: process.cwd(),
  homeFolder: homedir(),
  platform: process.platform,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  now: () => performance.now(),
  onInterrupt: (listener) => {
    process.on('SIGINT', listener);
    return () => void process.off('SIGINT', listener);
  },
  onOutputClosed: (listener) => {
    closedListeners.add(listener);
    return () => void closedListeners.delete(listener);
  },
};

/** A reader of the output may stop early (`| head`), which is no error: a command that has something to end is told. */
const onWriteError = ({ code }: NodeJS.ErrnoException): void => {
  if (code !== 'EPIPE') process.exit(1);
  if (closedListeners.size === 0) process.exit(0);
  for (const listener of closedListeners) listener();
};

for (const stream of [process.stdout, process.stderr]) stream.on('error', onWriteError);

process.exitCode = await runProgram(process.argv.slice(2), host);
