/** `sallyport`: the entry of the command line client. */
import { homedir } from 'node:os';
import { runProgram } from './program.ts';
import type { Host } from './runtime/host.ts';

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
};

/** A reader of the output may stop early (`| head`), which is no error. */
for (const stream of [process.stdout, process.stderr])
  stream.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 0 : 1));

process.exitCode = await runProgram(process.argv.slice(2), host);
