/**
 * The settings of the sandbox's server, read from its environment without a library: they are read before its first answer, and each
 * start waits for what is loaded for them.
 *
 * The task definition and the local host write them, RunTask adds the bearer's hash and the memory. Every bad one is named.
 */
import { isAbsolute } from 'node:path';

export type Settings = {
  readonly listen: { readonly path: string } | { readonly host: string; readonly port: number };
  /** The server knows the bearer only by its SHA-256, so that its memory holds no usable token. */
  readonly bearerSha256: string;
  /** Arguments that the runner's command line is appended to. */
  readonly userLauncher: readonly string[];
  /** The memory limit of user code, for messages; enforced by the cgroup. */
  readonly memoryMb: number;
  readonly processesMax: number;
  /** The folder of the memory counters of user code's cgroup; without it the runner counts. */
  readonly cgroup: string | undefined;
  /** True if user code may write to /proc; where it may not, the server sets the scores of its processes. */
  readonly isProcWritable: boolean;
  readonly workspace: string;
  /** A mounted folder that user code shares with its owner's other sandboxes. */
  readonly sharedPath: string | undefined;
  /** The port of the proxy on the sandbox's loopback; absent: there is none. */
  readonly proxyPort: number | undefined;
  /** The port of the model broker on the sandbox's loopback; absent: there is none. */
  readonly modelsPort: number | undefined;
  /** The relay's socket, in a folder that user code sees as /run/sallyport; absent: there is none. */
  readonly relaySocket: string | undefined;
};

type Variables = Readonly<Record<string, string | undefined>>;

/** Throws one line that names each bad variable. */
export const readSettings = (variables: Variables): Settings => {
  const problems: string[] = [];
  const read = <T>(name: string, decode: (text: string) => T | Problem, absent: T | Problem): T => {
    const text = variables[name];
    const value = text === undefined ? absent : decode(text);
    if (!(value instanceof Problem)) return value;
    problems.push(`${name}: ${value.text}`);
    return undefined as T;
  };
  const settings: Settings = {
    listen: read('SANDBOX_LISTEN', readListen, missing),
    bearerSha256: read('SANDBOX_BEARER_SHA256', readHash, missing),
    userLauncher: read('SANDBOX_USER_LAUNCHER', readArguments, missing),
    memoryMb: read('SANDBOX_MEMORY_MB', readCount, 512),
    processesMax: read('SANDBOX_PROCESSES_MAX', readCount, 256),
    cgroup: read<string | undefined>('SANDBOX_CGROUP', readPath, undefined),
    isProcWritable: read('SANDBOX_PROC', readWritable, true),
    workspace: read('SANDBOX_WORKSPACE', readPath, '/workspace'),
    sharedPath: read<string | undefined>('SANDBOX_SHARED_PATH', readShared, undefined),
    proxyPort: read<number | undefined>('SANDBOX_PROXY_PORT', readPort, undefined),
    modelsPort: read<number | undefined>('SANDBOX_MODELS_PORT', readPort, undefined),
    relaySocket: read<string | undefined>('SANDBOX_RELAY_SOCKET', readPath, undefined),
  };
  if (problems.length > 0) throw new Error(problems.join('; '));
  return settings;
};

class Problem {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const missing = new Problem('is missing');

const readPath = (text: string) => (isAbsolute(text) ? text : new Problem('must be an absolute path'));

/** `none`: without the one that the task definition names. */
const readShared = (text: string) => (text === 'none' ? undefined : readPath(text));

const readListen = (text: string): Settings['listen'] | Problem => {
  const path = text.startsWith('unix:') ? text.slice('unix:'.length) : undefined;
  if (path !== undefined && isAbsolute(path)) return { path };
  const [, host, port] = /^tcp:\/\/((?:\d{1,3}\.){3}\d{1,3}):(\d{1,5})$/.exec(text) ?? [];
  if (host === undefined || Number(port) > portMax)
    return new Problem('must be tcp://<address>:<port> or unix:<path>');
  return { host, port: Number(port) };
};

const readHash = (text: string) =>
  /^[0-9a-f]{64}$/.test(text) ? text : new Problem('must be 64 hexadecimal digits');

const readArguments = (text: string): readonly string[] | Problem => {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value) && value.length > 0 && value.every((part) => typeof part === 'string'))
      return value;
  } catch {
    // Said below.
  }
  return new Problem('must be a JSON array that names the program which gives the user identity');
};

const readCount = (text: string) =>
  /^[1-9]\d{0,9}$/.test(text) ? Number(text) : new Problem('must be a whole number above 0');

const portMin = 1024;
const portMax = 65_535;

const readPort = (text: string) => {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= portMin && port <= portMax
    ? port
    : new Problem(`must be a port from ${portMin} to ${portMax}`);
};

const readWritable = (text: string) =>
  text === 'writable' || text === 'read-only'
    ? text === 'writable'
    : new Problem('must be writable or read-only');
