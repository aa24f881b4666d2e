/**
 * Starts one sandbox: its folders, its cgroup, the server behind its wall, an address of its own.
 *
 * As root the wall is built by an unprivileged user that only this sandbox has; a kernel root behind a user
 * namespace could still write host settings. Everything dies with this process, also when it is killed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { chown, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { type AddressProxy, openAddressProxy } from './address-proxy.ts';
import { closeInherited, outerArguments, serverCommand } from './bubblewrap.ts';
import type { Cgroup } from './cgroup.ts';
import { exitCodeOf, killedExit, type OomWatch, watchOutOfMemory } from './oom-watch.ts';
import type { HostSettings, RunningSandbox, SandboxEnd, SandboxWish } from './running-sandbox.ts';
import { asIdentity, type Identity } from './sandbox-identity.ts';
import { killSandbox, terminateServer } from './sandbox-processes.ts';

/** Room for the server's threads beside the processes of user code. */
const processesMax = 256 + 64;
/** A shell's code for a program that it cannot run. */
const cannotStartExit = 127;

export const startSandbox = async (settings: HostSettings, wish: SandboxWish): Promise<RunningSandbox> => {
  const identity = settings.identities.take(settings.sharedVolume !== undefined);
  const folder = join(settings.folder, wish.id);
  await mkdir(folder, { mode: 0o711 });
  const [workspace, socket] = await Promise.all([
    ownFolder(folder, 'workspace', identity),
    ownFolder(folder, 'socket', identity),
  ]);
  const cgroup = settings.hierarchy?.open(`${settings.name}-${wish.id}`, { ...wish, processesMax });
  const { unreachableMs } = wish;
  const proxy = await openAddressProxy(join(socket, 'sandbox.sock'), { unreachableMs, log: settings.log });
  const child = launch(settings, { wish, workspace, socket, identity, cgroup });
  const oomWatch = cgroup === undefined ? undefined : watchOutOfMemory(cgroup.oomKills);
  const ended = endOf(child, oomWatch);
  // Somebody else may have killed bubblewrap, and early enough to leave its child.
  child.once('exit', () => void cgroup?.killAll());
  const removed = ended
    .then(() => cleanUp({ cgroup, proxy, folder }))
    // Only now no process of this user is left.
    .then(() => settings.identities.giveBack(identity))
    .catch((error: unknown) => settings.log(`sandbox ${wish.id} left something behind: ${String(error)}`));
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
  readonly wish: SandboxWish;
  readonly workspace: string;
  readonly socket: string;
  readonly identity: Identity | undefined;
  readonly cgroup: Cgroup | undefined;
};

const launch = (
  { programs, sharedVolume, log }: HostSettings,
  { wish, workspace, socket, identity, cgroup }: Launch,
): ChildProcess => {
  const wall = outerArguments(
    { workspace, socket, programs, sharedVolume, memoryCounters: cgroup?.memoryFolder },
    { nodePath: `${programs}/node`, variables: wish.variables },
  );
  const drop = identity === undefined ? [] : asIdentity(identity);
  const join = (cgroup?.joinFiles ?? []).map((file) => `echo $$ > ${file} && `).join('');
  // What one sandbox writes into the shared volume the others may change.
  const mask = sharedVolume === undefined ? '' : 'umask 0002 && ';
  const child = spawn(
    'bash',
    [
      ...['--norc', '--noprofile', '-c', `${closeInherited} ${mask}${join}exec "$@"`, 'launch'],
      ...[...drop, 'bwrap', '--args', '3', ...serverCommand],
    ],
    {
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      detached: false,
    },
  );
  const options = child.stdio[3] as Writable;
  options.on('error', () => log(`sandbox ${wish.id} did not read its options`));
  options.end(wall.join('\0'));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => log(text.trimEnd()));
  child.once('error', (error) => log(`sandbox ${wish.id} did not start: ${error.message}`));
  return child;
};

/** Who holds the output is dead, too, when it closes: nothing of the sandbox runs any more. */
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
    terminate: (patienceMs) => {
      const pid = living();
      if (pid === undefined || !terminateServer(pid)) return kill();
      const patience = setTimeout(kill, patienceMs);
      void ended.finally(() => clearTimeout(patience));
    },
  };
};

type Remains = {
  readonly cgroup: Cgroup | undefined;
  readonly proxy: AddressProxy;
  readonly folder: string;
};

const cleanUp = async ({ cgroup, proxy, folder }: Remains): Promise<void> => {
  await proxy.close();
  await cgroup?.remove();
  await rm(folder, { recursive: true, force: true });
};
