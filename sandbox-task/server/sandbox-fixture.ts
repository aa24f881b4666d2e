/**
 * A real sandbox for tests: the bundled server and runner as processes of this machine, behind a socket.
 *
 * As root the runner gets a user id of its own, because the server ends every process of that id, and because root
 * may write to a read-only folder. All files of the sandbox are in its temporary folder, Node too where that user
 * cannot reach this one: the project may lie below a folder that only root may enter. The walls are tested in tests/escape.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, copyFile, link, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Duplex, Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { readArchive } from '#shared/contracts/archive.ts';
import { bundleSandbox, serverFlags } from '../bundle.ts';

type TestRequest = {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string | Readable;
  readonly bearer?: string;
};
type TestResponse = {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
};
export type TestSandbox = {
  readonly workspace: string;
  /** The shared volume, if requested: of this sandbox alone, as on AWS. */
  readonly shared: string;
  /** The server's process and the runner's. */
  readonly pids: () => Promise<readonly number[]>;
  /** Ends what runs the user's programs, as a crash would. */
  readonly killRunner: () => Promise<void>;
  readonly open: (method: string, path: string, options?: TestRequest) => Promise<IncomingMessage>;
  readonly ask: (method: string, path: string, options?: TestRequest) => Promise<TestResponse>;
  /** A connection of bytes as they are; its failures are those of the test alone. */
  readonly dial: () => Promise<Socket>;
  /** An upgraded connection; its failures are those of the test alone. */
  readonly upgrade: (path: string) => Promise<Duplex>;
  readonly callTool: (name: string, input: object) => Promise<ToolResult>;
  readonly child: ChildProcess;
  /** The path of a Node that user code can run. */
  readonly nodePath: string;
  /** False when user code runs as the user of the test: then the server ends only the runner. */
  readonly hasOwnUser: boolean;
  /** True when user code runs as root, which may read and write every file. */
  readonly isRoot: boolean;
  /** Gives the files that the test wrote to the user of the sandbox. */
  readonly own: () => void;
  /** Also deletes the folders. */
  readonly stop: () => Promise<void>;
};
export type ToolResult = {
  readonly isError?: boolean;
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
};

export const testBearer = 'b'.repeat(64);
export const sha256Of = (content: Buffer | string): string =>
  createHash('sha256').update(content).digest('hex');

const waitMsMax = 90_000;
/** Far from the users of the machine and those of the embedded cloud's sandboxes. */
const uidMin = 1_900_000_000;

type TestSandboxOptions = {
  readonly hasSharedVolume?: boolean;
  /** Of the loopback, as on AWS, where a connection can be reset; without it the server listens on a socket of its folder. */
  readonly port?: number;
  /** Instead of the plain change of user. */
  readonly launcherOf?: (folder: string, uid: number) => readonly string[];
};

export const startTestSandbox = async (
  variables: Readonly<Record<string, string>> = {},
  { hasSharedVolume = false, port, launcherOf }: TestSandboxOptions = {},
): Promise<TestSandbox> => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-sandbox-'));
  await chmod(folder, 0o755);
  await bundleSandbox(folder);
  const { uid, node } = await prepareUser(folder);
  const workspace = join(folder, 'workspace');
  const shared = join(folder, 'shared');
  for (const root of [workspace, shared]) {
    await mkdir(root);
    if (uid !== undefined) await chown(root, uid, uid);
  }
  const path = join(folder, 'sandbox.sock');
  const address: Address = port === undefined ? { socketPath: path } : { host: '127.0.0.1', port };
  const launcher =
    launcherOf?.(folder, uid ?? 0) ??
    (uid === undefined ? ['env'] : ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups']);
  const child = spawn(node, [...serverFlags, join(folder, 'server.mjs')], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      SANDBOX_LISTEN: port === undefined ? `unix:${path}` : `tcp://127.0.0.1:${port}`,
      SANDBOX_BEARER_SHA256: sha256Of(testBearer),
      SANDBOX_USER_LAUNCHER: JSON.stringify(launcher),
      SANDBOX_WORKSPACE: workspace,
      ...(hasSharedVolume ? { SANDBOX_SHARED_PATH: shared } : {}),
      // Without walls the runner sees, and would count, every process of the machine.
      SANDBOX_MEMORY_MB: '1000000',
      SANDBOX_PROCESSES_MAX: '1000000',
      ...variables,
    },
  });
  child.stderr?.resume();
  const { pid: serverPid } = child;
  if (serverPid === undefined) throw new Error('the sandbox did not start');

  const { open, ask, dial, upgrade } = requestsTo(address);
  await waitFor(async () => (await ask('GET', '/health')).status === 200);
  return {
    workspace,
    shared,
    open,
    ask,
    dial,
    upgrade,
    child,
    nodePath: node,
    hasOwnUser: uid !== undefined,
    isRoot: uid === undefined && process.getuid?.() === 0,
    own: () => {
      if (uid !== undefined) spawnSync('chown', ['-hR', `${uid}:${uid}`, workspace, shared]);
    },
    pids: async () => [serverPid, ...(await childrenOf(serverPid))],
    killRunner: async () => {
      const [runner] = await childrenOf(serverPid);
      if (runner === undefined) throw new Error('the sandbox has no runner');
      process.kill(runner, 'SIGKILL');
    },
    callTool: (name, input) => callTool(ask, name, input),
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGTERM');
        await once(child, 'exit');
      }
      // Without root a read-only folder could not be emptied.
      spawnSync('chmod', ['-R', 'u+rwX', folder]);
      await rm(folder, { recursive: true, force: true });
    },
  };
};

type Address = { readonly socketPath: string } | { readonly host: string; readonly port: number };

/** The requests that a test makes of the server. */
const requestsTo = (address: Address): Pick<TestSandbox, 'open' | 'ask' | 'dial' | 'upgrade'> => {
  const open = async (
    method: string,
    target: string,
    options: TestRequest = {},
  ): Promise<IncomingMessage> => {
    const headers = { authorization: `Bearer ${options.bearer ?? testBearer}`, ...options.headers };
    const outgoing = request({ ...address, method, path: target, headers, agent: false });
    const answer = once(outgoing, 'response') as Promise<[IncomingMessage]>;
    // A refused body may still be sent when its connection closes.
    outgoing.on('error', () => undefined);
    if (options.body instanceof Readable) options.body.pipe(outgoing);
    else outgoing.end(options.body);
    return (await answer)[0];
  };
  const ask = async (method: string, path: string, options: TestRequest = {}): Promise<TestResponse> => {
    const answer = await open(method, path, options);
    const chunks = (await answer.toArray()) as Buffer[];
    return { status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) };
  };
  const upgrade = async (target: string): Promise<Duplex> => {
    const headers = { authorization: `Bearer ${testBearer}`, connection: 'upgrade', upgrade: 'websocket' };
    const outgoing = request({ ...address, path: target, headers, agent: false }).end();
    const [, socket] = (await once(outgoing, 'upgrade')) as [IncomingMessage, Duplex];
    socket.on('error', () => undefined);
    return socket;
  };
  const dial = async (): Promise<Socket> => {
    const socket = connect('socketPath' in address ? { path: address.socketPath } : address);
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  };
  return { open, ask, dial, upgrade };
};

/** The files of one worker start some hundred. */
let lastUid = uidMin + 500 * process.pid;

type SandboxUser = { readonly uid: number | undefined; readonly node: string };

/** A user of the sandbox's own, and a Node that it can run. Without root, or without `setpriv`, there is no other user. */
const prepareUser = async (folder: string): Promise<SandboxUser> => {
  const own = { uid: undefined, node: process.execPath };
  if (process.getuid?.() !== 0) return own;
  lastUid += 1;
  const uid = lastUid;
  if (canRun(uid, process.execPath)) return { uid, node: process.execPath };
  const node = join(folder, 'node');
  await link(process.execPath, node).catch(() => copyFile(process.execPath, node));
  return canRun(uid, node) ? { uid, node } : own;
};

/** Asks a shell of that user: `setpriv` itself still has the rights of root when it starts its program. */
const canRun = (uid: number, program: string): boolean => {
  const user = [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
  return spawnSync('setpriv', [...user, 'sh', '-c', 'exec "$0" --version', program]).status === 0;
};

const childrenOf = async (pid: number): Promise<readonly number[]> =>
  (await readFile(`/proc/${pid}/task/${pid}/children`, 'latin1')).split(' ').filter(Boolean).map(Number);

/** Waits until the condition holds; a failure counts as not yet. */
export const waitFor = async (isSo: () => Promise<boolean>): Promise<void> => {
  const deadline = performance.now() + waitMsMax;
  while (!(await isSo().catch(() => false))) {
    if (performance.now() > deadline) throw new Error('the condition did not come to hold');
    await delay(20);
  }
};

const callTool = async (ask: TestSandbox['ask'], name: string, input: object): Promise<ToolResult> => {
  const { body } = await ask('POST', '/mcp', {
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: input },
    }),
  });
  const text = body.toString();
  const data = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  const { result } = JSON.parse(data) as { readonly result?: ToolResult };
  if (result === undefined) throw new Error(`no tool result: ${text}`);
  return result;
};

type ArchivedEntry = {
  readonly type: 'directory' | 'symlink' | 'file' | 'left-out' | 'removed';
  readonly path: string;
  readonly mode?: number;
  readonly target?: string;
  readonly same?: boolean;
  readonly mtimeMs?: number;
  readonly reason?: string;
  /** The received content, if any. */
  content?: Buffer;
  isWhole?: boolean;
};
export type Archive = {
  isFull?: boolean;
  isEnded: boolean;
  readonly entries: ArchivedEntry[];
};

/** A whole archive in memory. */
export const collectArchive = async (stream: AsyncIterable<Uint8Array>): Promise<Archive> => {
  const archive: Archive = { isEnded: false, entries: [] };
  const pieces: Uint8Array[] = [];
  for await (const { header, payload } of readArchive(stream)) {
    const last = archive.entries.at(-1);
    if (header.type === 'begin') archive.isFull = header.isFull;
    else if (header.type === 'end') archive.isEnded = true;
    else if ('path' in header) archive.entries.push({ ...header });
    else if (last !== undefined && header.type === 'data') {
      pieces.push(payload);
    } else if (last !== undefined && header.type === 'file-end') {
      last.isWhole = header.isWhole;
      last.content = Buffer.concat(pieces.splice(0));
    }
  }
  return archive;
};
