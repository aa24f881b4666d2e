/** The program as a user starts it, in a process of its own on a free port and a data folder of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type Server = {
  readonly url: string;
  readonly token: string;
  readonly home: string;
  readonly pid: number;
  /** Everything it printed so far. */
  readonly output: () => string;
  readonly request: (path: string, init?: RequestInit) => Promise<Response>;
  /** Ends it as Ctrl-C does; gives the exit code. */
  readonly stop: () => Promise<number | null>;
  /** As a power cut: nothing of it can react. */
  readonly kill: () => Promise<void>;
};

export type ServerOptions = {
  readonly home?: string;
  readonly variables?: Readonly<Record<string, string>>;
};

/** A test asks faster than a person; and a bucket of 40 s forgives a request that a busy machine holds up. */
export const unthrottled = { RATE_LIMIT_PER_SECOND: '500', RATE_LIMIT_BURST: '20000' };

/** `SALLYPORT_STRICT=true`: the tests run in the strict mode of the embedded cloud. */
// biome-ignore lint/style/noProcessEnv: the one read of the tests' environment
export const isStrict = process.env['SALLYPORT_STRICT'] === 'true';

/** Of an answer outside `/mcp`: API Gateway renames the header. */
export const challengeOf = ({ headers }: { readonly headers: Pick<Headers, 'get'> }): string | null =>
  headers.get(isStrict ? 'x-amzn-remapped-www-authenticate' : 'www-authenticate');

/** As a busy machine needs it. */
const startMsMax = 300_000;
const repository = join(import.meta.dirname, '..', '..');
const main = join(repository, 'local', 'main.ts');
/** A program that finds its compiled modules starts for a third of the CPU time. */
export const compileCache = { NODE_COMPILE_CACHE: join(repository, 'node_modules', '.compile-cache') };

export const makeHomePath = (): Promise<string> => mkdtemp(join(tmpdir(), 'sallyport-e2e-'));

/** A user of AWS has some of these set: none concerns the cloud of this machine. */
const ofAnAccount = {
  AWS_PROFILE: 'production',
  AWS_REGION: 'eu-west-1',
  AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
  AWS_ACCESS_KEY_ID: 'of the account',
  AWS_SECRET_ACCESS_KEY: 'of the account',
  AWS_SESSION_TOKEN: 'of the account',
  AWS_USE_FIPS_ENDPOINT: 'true',
  AWS_USE_DUALSTACK_ENDPOINT: 'true',
  AWS_CA_BUNDLE: '/nowhere',
  HTTP_PROXY: 'http://127.0.0.1:1',
  NODE_OPTIONS: '--max-old-space-size=4096',
};

export const startServer = async ({ home, variables = {} }: ServerOptions = {}): Promise<Server> => {
  const folder = home ?? (await makeHomePath());
  // A test that fails before it stops its server, or a worker that is killed, leaves none behind.
  const child = spawn('setpriv', ['--pdeathsig', 'TERM', process.execPath, main], {
    env: {
      PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
      TMPDIR: tmpdir(),
      ...compileCache,
      ...ofAnAccount,
      PORT: '0',
      SALLYPORT_HOME: folder,
      SALLYPORT_INSTALL_PACKAGES: 'false',
      // Most tests count the sandboxes that they start. An empty one is the program's own.
      POOL_SIZE: '0',
      SALLYPORT_STRICT: String(isStrict),
      ...unthrottled,
      ...variables,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => printed.push(text));
  const url = await readyUrl(child, printed);
  const token = /#token=(\S+)/.exec(printed.join(''))?.[1] ?? '';
  return {
    url,
    token,
    home: folder,
    pid: child.pid ?? 0,
    output: () => printed.join(''),
    request: (path, init = {}) =>
      fetch(`${url}${path}`, { ...init, headers: { authorization: `Bearer ${token}`, ...init.headers } }),
    stop: async () => {
      child.kill('SIGTERM');
      return ended(child);
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended(child);
    },
  };
};

const ended = async (child: ChildProcess): Promise<number | null> => {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
};

const readyUrl = (child: ChildProcess, printed: readonly string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`${why}: ${printed.join('')}`));
    const timer = setTimeout(() => fail('not ready in time'), startMsMax);
    const look = (): void => {
      const url = /ready at (\S+)[\s\S]*#token=\S+\n/.exec(printed.join(''))?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      resolve(url);
    };
    child.stdout?.on('data', look);
    child.once('exit', () => {
      clearTimeout(timer);
      fail('it ended');
    });
  });
