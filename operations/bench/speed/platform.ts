/** Programs in processes of their own, as a user starts them: the platform, and the model's server beside it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export const repository = resolve(import.meta.dirname, '..', '..', '..');
const startMsMax = 600_000;

export type Program = { readonly pid: number; readonly stop: () => Promise<void> };
export type Platform = Program & { readonly url: string; readonly token: string };

/** Starts a program that prints what the pattern finds; it ends with this process. */
const startProgram = async (
  file: string,
  { variables, ready }: { readonly variables: Readonly<Record<string, string>>; readonly ready: RegExp },
): Promise<Program & { readonly found: RegExpExecArray }> => {
  const child = spawn('setpriv', ['--pdeathsig', 'TERM', process.execPath, file], {
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', TMPDIR: tmpdir(), ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const found = await printed(child, ready);
  return {
    pid: child.pid ?? 0,
    found,
    stop: async () => {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
};

const printed = (child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> =>
  new Promise((found, fail) => {
    let text = '';
    const timer = setTimeout(() => fail(new Error(`not ready in time: ${text}`)), startMsMax);
    const look = (more: string): void => {
      text += more;
      const match = pattern.exec(text);
      if (match === null) return;
      clearTimeout(timer);
      found(match);
    };
    child.stdout?.setEncoding('utf8').on('data', look);
    child.stderr?.setEncoding('utf8').on('data', look);
    child.once('exit', () => fail(new Error(`the program ended: ${text}`)));
  });

export const startModelServer = async (): Promise<Program & { readonly url: string }> => {
  const file = join(import.meta.dirname, 'model-server.ts');
  const { found, ...program } = await startProgram(file, { variables: {}, ready: /(http:\S+)\n/ });
  return { ...program, url: found[1] ?? '' };
};

export const startPlatform = async (variables: Readonly<Record<string, string>>): Promise<Platform> => {
  const home = await mkdtemp(join(tmpdir(), 'sallyport-bench-'));
  const { found, ...program } = await startProgram(join(repository, 'local', 'main.ts'), {
    ready: /ready at (\S+)[\s\S]*#token=(\S+)\n/,
    variables: {
      PORT: '0',
      SALLYPORT_HOME: home,
      SALLYPORT_INSTALL_PACKAGES: 'false',
      NODE_COMPILE_CACHE: join(repository, 'node_modules', '.compile-cache'),
      RATE_LIMIT_PER_SECOND: '10000',
      RATE_LIMIT_BURST: '20000',
      MSB_MAX_SESSIONS: '100',
      MAX_AGENT_SLOTS: '100',
      ...variables,
    },
  });
  return {
    pid: program.pid,
    stop: async () => {
      await program.stop();
      await rm(home, { recursive: true, force: true });
    },
    url: found[1] ?? '',
    token: found[2] ?? '',
  };
};

export type Ask = (path: string, init?: RequestInit) => Promise<Response>;

export const askOf =
  ({ url, token }: Pick<Platform, 'url' | 'token'>): Ask =>
  async (at, init = {}) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...init.headers };
    const response = await fetch(`${url}${at}`, { ...init, headers });
    if (!response.ok) throw new Error(`${init.method ?? 'GET'} ${at}: ${await response.text()}`);
    return response;
  };

export const makeSession = async (ask: Ask, options: object): Promise<string> => {
  const answer = await ask('/api/sessions', { method: 'POST', body: JSON.stringify(options) });
  return ((await answer.json()) as { readonly id: string }).id;
};

/** One after another: what is asked at once competes for the counter of a token's requests. */
export const inTurn = async <T>(count: number, make: () => Promise<T>): Promise<readonly T[]> => {
  const made: T[] = [];
  while (made.length < count) made.push(await make());
  return made;
};
