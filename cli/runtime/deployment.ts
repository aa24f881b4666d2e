/**
 * The deployment in use and its token: from the environment first, then from the file that `login` wrote.
 *
 * A stored token is sent only to the URL with which it was stored; the file is readable by its owner alone (mode 600).
 */
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isLate, SallyportError } from '#sdk/errors.ts';
import { CliFailure, failure, wrongUsage } from './failure.ts';
import type { Host, Variables } from './host.ts';

export type Deployment = { readonly url: string; readonly token: string };
export type FoundDeployment = {
  readonly url: string;
  readonly token: string | undefined;
  readonly source: 'environment' | 'file' | 'none';
};

const localUrl = 'http://127.0.0.1:4350';

/** The origin of a typed URL; the address of the web app may carry a token in its fragment. */
export const readUrl = (text: string): { readonly url: string; readonly token?: string } => {
  // A host with a port would be read as a scheme.
  const parsed = URL.parse(text.includes('://') ? text : `http://${text}`);
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.username !== '')
    throw wrongUsage(`'${text}' is not an http or https URL`);
  const token = /^#token=(\S+)$/.exec(parsed.hash)?.[1];
  return { url: parsed.origin, ...(token === undefined ? {} : { token }) };
};

/** Any other text is no value of a header, and the failure of the request would show it. */
export const isToken = (text: string): boolean => /^[\x21-\x7e]+$/.test(text);

export const maskToken = (token: string): string =>
  token.length < 13 ? '***' : `${token.slice(0, 8)}...${token.slice(-4)}`;

const settingsPath = ({ variables, homeFolder }: Pick<Host, 'variables' | 'homeFolder'>): string => {
  const folder = variables['XDG_CONFIG_HOME'] || join(homeFolder, '.config');
  return join(folder, 'sallyport', 'config.json');
};

const readSettings = async (path: string): Promise<Deployment | undefined> => {
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined;
    throw failure('settings_unreadable', `${path} cannot be read: ${cause.code}`, { cause });
  });
  if (text === undefined) return undefined;
  try {
    const { url, token } = JSON.parse(text) as Record<string, unknown>;
    if (typeof url === 'string' && typeof token === 'string') return { url, token };
  } catch (cause) {
    throw failure('settings_unreadable', `${path} is not JSON`, {
      cause,
      suggestions: ['Run `sallyport login` again.'],
    });
  }
  return undefined;
};

const fromEnvironment = (variables: Variables): Partial<Deployment> => {
  const { SALLYPORT_URL: url, SALLYPORT_TOKEN: token } = variables;
  // A line end after it comes from a file.
  const given = token?.trim();
  if (given && !isToken(given))
    throw wrongUsage('SALLYPORT_TOKEN: a token consists of printable characters without spaces');
  return { ...(url ? readUrl(url) : {}), ...(given ? { token: given } : {}) };
};

export const findDeployment = async (host: Host): Promise<FoundDeployment> => {
  const named = fromEnvironment(host.variables);
  if (named.url !== undefined && named.token !== undefined)
    return { url: named.url, token: named.token, source: 'environment' };
  const stored = await readSettings(settingsPath(host));
  const url = named.url ?? stored?.url ?? localUrl;
  if (named.token !== undefined) return { url, token: named.token, source: 'environment' };
  const token = stored?.url === url ? stored.token : undefined;
  return { url, token, source: token === undefined ? 'none' : 'file' };
};

export const requireDeployment = async (
  host: Host,
): Promise<Deployment & { readonly source: 'environment' | 'file' }> => {
  const { url, token, source } = await findDeployment(host);
  if (token !== undefined && source !== 'none') return { url, token, source };
  throw failure('not_logged_in', `no token for ${url}`, {
    suggestions: ['Run `sallyport login`, or set SALLYPORT_URL and SALLYPORT_TOKEN.'],
  });
};

/** Of an origin: a host may begin like a local one. */
export const isLoopback = (origin: string): boolean =>
  /^https?:\/\/(127(\.\d+){3}|localhost|\[::1\])(:\d+)?$/.test(origin);

/** Of a token that the server refuses: the person has to know which one that is. */
const tokenHints = {
  environment:
    'SALLYPORT_TOKEN of the environment is the token that was refused: set it to a valid one, or unset it.',
  file: 'The stored token was refused: run `sallyport login` with a valid one.',
  given:
    'Give a valid token: `npm start` prints one, and an admin makes others with `sallyport token create`.',
} as const;

const startHint = 'Start it with `npm start`, or name another URL with `sallyport login --url <url>`.';
const connectionHint = 'Check your connection and the URL: `sallyport login --url <url>` stores another one.';
const whichHint = '`sallyport whoami` shows the one in use.';

type Used = { readonly url: string; readonly source: keyof typeof tokenHints };

/** The failure as it is, but for a token that was refused, and for a server that was not reached: only a local one can be started. */
export const advised = (error: unknown, { url, source }: Used): unknown => {
  if (!(error instanceof SallyportError)) return error;
  const isUnreached = error.code === 'unreachable' && !isLate(error.cause);
  if (!isUnreached && error.code !== 'unauthenticated') return error;
  const hint = isLoopback(url) ? startHint : connectionHint;
  const suggestions = [isUnreached ? `${hint} ${whichHint}` : tokenHints[source]];
  return new CliFailure({ error: { ...error.facts, suggestions } }, { cause: error });
};

export const storeDeployment = async (host: Host, deployment: Deployment): Promise<string> => {
  const path = settingsPath(host);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}`;
  await writeFile(temporary, `${JSON.stringify(deployment, null, 2)}\n`, { mode: 0o600 });
  // The umask narrows the mode of a new file, and a leftover file keeps its own.
  await chmod(temporary, 0o600);
  await rename(temporary, path);
  return path;
};

export const deleteDeployment = async (host: Host): Promise<boolean> => {
  const path = settingsPath(host);
  const isStored = (await readFile(path).catch(() => undefined)) !== undefined;
  await rm(path, { force: true });
  return isStored;
};
