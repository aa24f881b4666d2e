/**
 * Programs that a proof starts: one that runs to its end, and a server that is stopped with the proof.
 *
 * Each gets an environment of its own: a token or an endpoint of the person's shell never reaches them.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

export type Ended = { readonly code: number; readonly out: string };
type Options = {
  readonly variables?: Readonly<Record<string, string>>;
  readonly folder?: string;
  /** Prints what the program prints as it comes, too. */
  readonly shown?: boolean;
};

/** Variables of the shell that package managers need: its search path, its home with their settings, the proxy and whom to trust. */
const inherited = [
  'PATH',
  'HOME',
  'LANG',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'https_proxy',
  'no_proxy',
  'NODE_EXTRA_CA_CERTS',
];

const environment = (variables: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  // biome-ignore lint/style/noProcessEnv: the one read of this program
  ...Object.fromEntries(inherited.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []))),
  ...variables,
});

export const run = async (
  program: string,
  args: readonly string[],
  { variables, folder, shown = false }: Options = {},
): Promise<Ended> => {
  const child = spawn(program, args, {
    env: environment(variables),
    ...(folder === undefined ? {} : { cwd: folder }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const out = collected(child, shown);
  const failed = once(child, 'error').then(([error]) => ({ code: 127, out: String(error) }));
  const ended = once(child, 'close').then(([code]) => ({ code: (code as number | null) ?? 1, out: out() }));
  return Promise.race([ended, failed]);
};

const collected = (child: ChildProcess, shown = false): (() => string) => {
  const texts: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      texts.push(text);
      if (shown) process.stdout.write(text);
    });
  return () => texts.join('');
};

export const printed = async (program: string, args: readonly string[]): Promise<string> => {
  const { code, out } = await run(program, args);
  if (code !== 0) throw new Error(`${program} ${args.slice(0, 3).join(' ')} ended with ${code}: ${out}`);
  return out.trim();
};

export type Server = AsyncDisposable & { readonly url: string; readonly output: () => string };

type ServerOptions = Pick<Options, 'folder'> & {
  readonly variables?: (port: number) => Readonly<Record<string, string>>;
  /** The line that it prints when it is ready; absent: it is ready once it answers anything. */
  readonly ready?: RegExp;
  readonly program: string;
  readonly args: (port: number) => readonly string[];
};

/** Busy machines start a Java program slowly. */
const startSecondsMax = 120;
const askedPerSecond = 5;

/** Resolves once the server is ready; it ends with the block that holds it, and with this process. */
export const serve = async ({ program, args, variables, folder, ready }: ServerOptions): Promise<Server> => {
  const port = await freePort();
  const child = spawn('setpriv', ['--pdeathsig', 'TERM', program, ...args(port)], {
    env: environment(variables?.(port)),
    ...(folder === undefined ? {} : { cwd: folder }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = collected(child);
  const url = `http://127.0.0.1:${port}`;
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill();
    await once(child, 'exit');
  };
  for (let tries = 0; tries < startSecondsMax * askedPerSecond; tries += 1) {
    if (child.exitCode !== null) throw new Error(`${program} ended at its start: ${output()}`);
    if (ready === undefined ? await answers(url) : ready.test(output()))
      return { url, output, [Symbol.asyncDispose]: stop };
    await wait(1000 / askedPerSecond);
  }
  await stop();
  throw new Error(`${program} does not answer after ${startSecondsMax} s: ${output()}`);
};

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => true,
    () => false,
  );

export const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  return port;
};
