/** `sallyport`: the entry of the command line client. */
import { homedir } from 'node:os';
import { runProgram } from './program.ts';
import type { Host } from './runtime/host.ts';

const endListeners = new Set<(exitCode: number) => void>();

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
  onEnd: (listener) => {
    endListeners.add(listener);
    return () => void endListeners.delete(listener);
  },
};

/** A command that has something to clean up is told; any other ends at once. */
const end = (exitCode: number): void => {
  if (endListeners.size === 0) process.exit(exitCode);
  for (const listener of endListeners) listener(exitCode);
};

/** A reader of the output may stop early (`| head`), which is no error. */
const onWriteError = ({ code }: NodeJS.ErrnoException): void => (code === 'EPIPE' ? end(0) : process.exit(1));
for (const stream of [process.stdout, process.stderr]) stream.on('error', onWriteError);

/** Of a time limit or a scheduler, and of a terminal that is closed; the exit codes are those of shells. */
process.on('SIGTERM', () => end(143));
process.on('SIGHUP', () => end(129));

process.exitCode = await runProgram(process.argv.slice(2), host);
