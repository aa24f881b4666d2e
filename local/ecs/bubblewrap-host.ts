/**
 * Starts one sandbox: its folders, its cgroup, the server behind its wall, an address of its own.
 *
 * As root the wall is built by an unprivileged user that only this sandbox has; a kernel root behind a user
 * namespace could still write host settings. Everything dies with this process, also when it is killed.
 */
import { spawn } from 'node:child_process';
import { chown, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { type AddressProxy, openAddressProxy } from './address-proxy.ts';
import { outerArguments, serverCommand } from './bubblewrap.ts';
import type { Cgroup, CgroupHierarchy } from './cgroup.ts';

export type SandboxWish = {
  readonly id: string;
  readonly cpus: number;
  /** The container's limit: user code and server. */
  readonly memoryMb: number;
  readonly variables: Readonly<Record<string, string>>;
};

export type SandboxEnd = { readonly exitCode: number | null; readonly isOutOfMemory: boolean };

export type RunningSandbox = {
  readonly address: string;
  readonly ended: Promise<SandboxEnd>;
  readonly kill: () => void;
};

export type HostSettings = {
  /** Tells this cloud's control groups from another's. */
  readonly name: string;
  readonly folder: string;
  readonly programs: string;
  readonly hierarchy: CgroupHierarchy | undefined;
  readonly log: (line: string) => void;
};

/** User ids no other program of the machine has; each sandbox gets the next. */
const firstUid = 1_761_000_000;
const uidsMax = 60_000;
/** Room for the server's threads beside the processes of user code. */
const processesMax = 256 + 64;

let lastUid = 0;
const nextUid = (): number => {
  lastUid = (lastUid + 1) % uidsMax;
  return firstUid + lastUid;
};

export const startSandbox = async (settings: HostSettings, wish: SandboxWish): Promise<RunningSandbox> => {
  const uid = process.getuid?.() === 0 ? nextUid() : undefined;
  const folder = join(settings.folder, wish.id);
  await mkdir(folder, { mode: 0o711 });
  const [workspace, socket] = await Promise.all([
    ownFolder(folder, 'workspace', uid),
    ownFolder(folder, 'socket', uid),
  ]);
  const cgroup = settings.hierarchy?.open(`${settings.name}-${wish.id}`, { ...wish, processesMax });
  const proxy = await openAddressProxy(join(socket, 'sandbox.sock'));
  const child = launch(settings, { wish, workspace, socket, uid, cgroup });
  const ended = new Promise<SandboxEnd>((resolve) => {
    child.once('close', (exitCode) => resolve(cleanUp({ exitCode, cgroup, proxy, folder })));
  });
  return { address: proxy.address, ended, kill: () => child.kill('SIGKILL') };
};

/** A folder that only this sandbox's user may enter. */
const ownFolder = async (parent: string, name: string, uid: number | undefined): Promise<string> => {
  const folder = join(parent, name);
  await mkdir(folder, { mode: 0o700 });
  if (uid !== undefined) await chown(folder, uid, uid);
  return folder;
};

type Launch = {
  readonly wish: SandboxWish;
  readonly workspace: string;
  readonly socket: string;
  readonly uid: number | undefined;
  readonly cgroup: Cgroup | undefined;
};

const launch = ({ programs, log }: HostSettings, { wish, workspace, socket, uid, cgroup }: Launch) => {
  const wall = outerArguments(
    { workspace, socket, programs, memoryCounters: cgroup?.memoryFolder },
    { nodePath: `${programs}/node`, variables: wish.variables },
  );
  const drop = uid === undefined ? [] : ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
  const join = (cgroup?.joinFiles ?? []).map((file) => `echo $$ > ${file} && `).join('');
  const child = spawn(
    '/bin/sh',
    ['-c', `${join}exec "$@"`, 'sh', ...drop, 'bwrap', '--args', '3', ...serverCommand],
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

type Remains = {
  readonly exitCode: number | null;
  readonly cgroup: Cgroup | undefined;
  readonly proxy: AddressProxy;
  readonly folder: string;
};

const cleanUp = async ({ exitCode, cgroup, proxy, folder }: Remains): Promise<SandboxEnd> => {
  const isOutOfMemory = exitCode !== 0 && (cgroup?.oomKills() ?? 0) > 0;
  await proxy.close();
  await cgroup?.remove();
  await rm(folder, { recursive: true, force: true });
  return { exitCode, isOutOfMemory };
};
