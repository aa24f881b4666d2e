/**
 * Starts one sandbox with bubblewrap, and ends it: its folders, its cgroup, the server inside its walls, its loopback
 * address.
 *
 * As root the walls are built by an unprivileged user that only this sandbox has; a kernel root inside a user namespace
 * could still write host settings. All processes of the sandbox end with this process, even by SIGKILL. The host sees
 * three of them: bubblewrap; its child, the init of the sandbox's process namespace; and the first child of that, the
 * server.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chown, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { logLines } from '../process/log-lines.ts';
import { openAddressProxy } from './address-proxy.ts';
import { closeInherited, outerArguments, serverCommand, wallsCommand } from './bubblewrap.ts';
import { type Cgroup, type OomWatch, send, watchOutOfMemory } from './cgroup.ts';
import {
  exitCodeOf,
  type HostSettings,
  killedExit,
  type RunningSandbox,
  type SandboxEnd,
  type SandboxRequest,
} from './running-sandbox.ts';
import { asIdentity, type Identity } from './sandbox-identity.ts';

/** The processes of user code and the threads of the server. */
const processesMax = 256 + 64;
/** A shell's exit code for a program that it cannot run. */
const cannotStartExit = 127;

/** Of a start that fails nothing is left. */
export const startSandbox = async (
  settings: HostSettings,
  request: SandboxRequest,
  command = serverCommand,
): Promise<RunningSandbox> => {
  const identity = settings.identities.acquire(settings.sharedVolume !== undefined);
  try {
    return await startAs(settings, { request, command }, identity);
  } catch (error) {
    settings.identities.release(identity);
    throw error;
  }
};

const probe: SandboxRequest = {
  ...{ id: 'probe', template: 'python', cpus: 1, memoryMb: 128, variables: {}, unreachableMs: 0 },
};

/** Starts one as all others, around a program that ends at once. Throws the words of the program that refused. */
export const proveWalls = async (settings: HostSettings): Promise<void> => {
  const lines: string[] = [];
  const own = { ...settings, sharedVolume: undefined, log: (line: string) => void lines.push(line) };
  const sandbox = await startSandbox(own, probe, wallsCommand());
  const { exitCode } = await sandbox.ended;
  await sandbox.removed;
  if (exitCode !== 0) throw new Error(lines.join('\n') || `it ended with exit code ${exitCode}`);
};

const startAs = async (
  settings: HostSettings,
  { request, command }: Pick<Launch, 'request' | 'command'>,
  identity: Identity | undefined,
): Promise<RunningSandbox> => {
  await using starting = new AsyncDisposableStack();
  const folder = join(settings.folder, request.id);
  await mkdir(folder, { mode: 0o711 });
  starting.defer(() => rm(folder, { recursive: true, force: true }));
  const [workspace, socket] = await Promise.all([
    ownFolder(folder, 'workspace', identity),
    ownFolder(folder, 'socket', identity),
  ]);
  const cgroup = settings.hierarchy?.open(`${settings.name}-${request.id}`, { ...request, processesMax });
  starting.defer(() => cgroup?.remove());
  const { unreachableMs } = request;
  const { port, log } = settings;
  const proxy = await openAddressProxy(join(socket, 'sandbox.sock'), { port, unreachableMs, log });
  starting.defer(() => proxy.close());
  const child = launch(settings, { request, command, workspace, socket, identity, cgroup });
  const running = starting.move();
  const oomWatch = cgroup === undefined ? undefined : watchOutOfMemory(cgroup.oomKills);
  const ended = endOf(child, oomWatch);
  // Another process may have killed bubblewrap so early that its child survived.
  child.once('exit', () => void cgroup?.killAll());
  const removed = ended
    .then(() => running.disposeAsync())
    // No process of this user is left.
    .then(() => settings.identities.release(identity))
    .catch((error: unknown) =>
      settings.log(`sandbox ${request.id} could not be removed completely: ${String(error)}`),
    );
  return { address: proxy.address, ended, removed, ...endings(child, ended, settings.log) };
};

/** A folder that only this sandbox's user may enter. */
const ownFolder = async (parent: string, name: string, identity: Identity | undefined): Promise<string> => {
  const folder = join(parent, name);
  await mkdir(folder, { mode: 0o700 });
  if (identity !== undefined) await chown(folder, identity.uid, identity.gid);
  return folder;
};

type Launch = {
  readonly request: SandboxRequest;
  /** Runs inside the outer wall. */
  readonly command: readonly string[];
  readonly workspace: string;
  readonly socket: string;
  readonly identity: Identity | undefined;
  readonly cgroup: Cgroup | undefined;
};

const launch = (
  { programs, sharedVolume: volume, log }: HostSettings,
  { request, command, workspace, socket, identity, cgroup }: Launch,
): ChildProcess => {
  const sharedVolume = request.variables['SANDBOX_SHARED_PATH'] === 'none' ? undefined : volume;
  const walls = outerArguments(
    { workspace, socket, programs, sharedVolume, memoryCounters: cgroup?.memoryFolder },
    { nodePath: `${programs}/node`, variables: request.variables },
  );
  const drop = identity === undefined ? [] : asIdentity(identity);
  const join = (cgroup?.joinFiles ?? []).map((file) => `echo $$ > ${file} && `).join('');
  // Files in the shared volume are writable for the other sandboxes.
  const mask = sharedVolume === undefined ? '' : 'umask 0002 && ';
  const child = spawn(
    'bash',
    [
      ...['--norc', '--noprofile', '-c', `${closeInherited} ${mask}${join}exec "$@"`, 'launch'],
      ...[...drop, 'bwrap', '--args', '3', ...command],
    ],
    {
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      // The terminal's Ctrl-C does not reach it: its workspace is saved first.
      detached: true,
    },
  );
  const options = child.stdio[3] as Writable;
  options.on('error', () => log(`sandbox ${request.id} did not read its options`));
  options.end(walls.join('\0'));
  if (child.stderr !== null) logLines(child.stderr, log);
  child.once('error', (error) => log(`sandbox ${request.id} did not start: ${error.message}`));
  return child;
};

/** Waits for `close`, after which no process that holds the output is left in the sandbox. */
const endOf = async (child: ChildProcess, oomWatch: OomWatch | undefined): Promise<SandboxEnd> => {
  const exitCode = await new Promise<number>((resolve) => {
    child.once('close', (code, signal) => resolve(exitCodeOf(code, signal)));
    child.once('error', () => resolve(cannotStartExit));
  });
  const isMemoryShort = oomWatch?.end() ?? false;
  return { exitCode, isOutOfMemory: exitCode === killedExit && isMemoryShort };
};

const endings = (
  child: ChildProcess,
  ended: Promise<unknown>,
  log: (line: string) => void,
): Pick<RunningSandbox, 'kill' | 'terminate'> => {
  const living = (): number | undefined =>
    child.exitCode === null && child.signalCode === null ? child.pid : undefined;
  const kill = (): void => {
    const pid = living();
    if (pid === undefined) return;
    killSandbox(pid).catch((error: unknown) => log(`a sandbox cannot be killed: ${String(error)}`));
  };
  return {
    kill,
    terminate: (timeoutMs) => {
      const pid = living();
      if (pid === undefined || !terminateServer(pid)) return kill();
      const timer = setTimeout(kill, timeoutMs);
      void ended.finally(() => clearTimeout(timer));
    },
  };
};

const haltTriesMax = 500;
const haltPauseMs = 1;

/** bubblewrap forwards no signal, so SIGTERM goes to the server. False when there is no server yet, or no longer. */
const terminateServer = (bubblewrap: number): boolean => {
  const [init] = childrenOf(bubblewrap);
  const [server] = init === undefined ? [] : childrenOf(init);
  return server !== undefined && send(server, 'SIGTERM');
};

/**
 * bubblewrap's child is bound to its life only once the walls stand: killing bubblewrap earlier would leave the child
 * alive. So bubblewrap is halted first, then its child is killed, which ends every process inside the walls, and then
 * bubblewrap itself.
 */
const killSandbox = async (bubblewrap: number): Promise<void> => {
  send(bubblewrap, 'SIGSTOP');
  for (let attempt = 1; isRunning(bubblewrap) && attempt <= haltTriesMax; attempt += 1)
    await delay(haltPauseMs);
  for (const child of childrenOf(bubblewrap)) send(child, 'SIGKILL');
  send(bubblewrap, 'SIGKILL');
};

/** Neither halted nor ended: it could still fork. */
const isRunning = (pid: number): boolean => /^State:\t[^TtZX]/m.test(readProcess(`${pid}/status`));

/** The oldest child comes first (proc_pid_task(5); every distribution's kernel has CONFIG_PROC_CHILDREN). */
const childrenOf = (pid: number): readonly number[] =>
  readProcess(`${pid}/task/${pid}/children`)
    .split(' ')
    .filter((text) => text !== '')
    .map(Number);

const readProcess = (path: string): string => {
  try {
    return readFileSync(`/proc/${path}`, 'latin1').trim();
  } catch {
    // It has ended.
    return '';
  }
};
