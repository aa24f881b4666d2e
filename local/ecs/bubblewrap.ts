/**
 * The two walls of a local sandbox, as arguments of bubblewrap, and the programs inside them.
 *
 * The outer wall is around the server, the nested one around user code. The outer wall has no network and contains the
 * system's programs, the server and its sockets. The nested one contains neither the server nor its own socket, but the relay's. Both have
 * their own user, process, IPC and host name spaces. A shared volume is in both, writable. Guarantees W1, W2, W3, W4,
 * W5 and W7 of docs/spec/sandbox.md.
 */
import {
  chmod,
  constants,
  copyFile,
  type FileHandle,
  link,
  mkdir,
  open,
  readdir,
  rename,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import {
  bundleSandbox,
  compileCache,
  filterFile,
  serverFiles,
  serverFlags,
} from '../../sandbox-task/bundle.ts';
import type { SharedVolume } from './running-sandbox.ts';

type SandboxFolders = {
  /** Bound as /workspace. */
  readonly workspace: string;
  /** Holds the server's socket; only the server sees it. */
  readonly socket: string;
  /** The server's files, those of the user's side, the filter, the loader and etc/. */
  readonly programs: string;
  readonly memoryCounters?: string | undefined;
  readonly sharedVolume?: SharedVolume | undefined;
};

const tmpBytesMax = 256 * 1_048_576;
/** Docker's default: Python keeps the locks of `multiprocessing` there. */
const sharedMemoryBytesMax = 64 * 1_048_576;
const node = '/opt/sallyport/bin/node';
/** Of the relay's socket, beside the server's: user code sees it as /run/sallyport. */
const relayFolder = '/run/sallyport/relay';
/** Starts the runner. No process of the same user can trace a process that an unreadable executable started. */
const loader = '/opt/sallyport/bin/loader';
const filter = '/opt/sallyport/user.bpf';
/** The platform for programs of user code. */
const client = '/opt/sallyport/bin/sallyport-client';

/** The server's user, in the outer wall alone. */
const serverUser = '1000';

/** The programs that run user code; the same in both walls. */
const userFiles = [
  ...['runner.mjs', 'node-interpreter.mjs'],
  ...[
    'python-interpreter.py',
    'sallyport_charts.py',
    'sallyport_errors.py',
    'sallyport_imports.py',
    'sallyport_results.py',
    'sallyport_tables.py',
    'terminal.py',
  ],
];

const walls = ['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'];
const confinement = ['--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--hostname', 'sandbox'];

const system = [
  ...['--ro-bind', '/usr', '/usr'],
  ...['--symlink', 'usr/bin', '/bin', '--symlink', 'usr/sbin', '/sbin'],
  ...['--symlink', 'usr/lib', '/lib', '--symlink', 'usr/lib64', '/lib64'],
];

export const outerArguments = (
  { workspace, socket, programs, memoryCounters, sharedVolume }: SandboxFolders,
  {
    nodePath,
    variables,
  }: { readonly nodePath: string; readonly variables: Readonly<Record<string, string>> },
): readonly string[] => [
  ...walls,
  ...['--unshare-net', '--uid', serverUser, '--gid', serverUser],
  ...system,
  ...['--ro-bind', `${programs}/etc`, '/etc', '--ro-bind-try', '/etc/alternatives', '/etc/alternatives'],
  ...['--ro-bind-try', '/etc/ld.so.cache', '/etc/ld.so.cache'],
  ...['--ro-bind-try', '/etc/ssl/certs', '/etc/ssl/certs'],
  ...['--ro-bind', nodePath, node, '--ro-bind', `${programs}/loader`, loader],
  ...userFiles.flatMap((name) => ['--ro-bind', `${programs}/${name}`, `/opt/sallyport/${name}`]),
  ...['--ro-bind', `${programs}/sallyport-client`, client],
  ...serverFiles.flatMap((name) => ['--ro-bind', `${programs}/${name}`, `/opt/sallyport/${name}`]),
  ...['--ro-bind', `${programs}/${compileCache}`, `/opt/sallyport/${compileCache}`],
  ...['--ro-bind', `${programs}/user.bpf`, filter],
  ...['--proc', '/proc', '--dev', '/dev'],
  ...['--size', String(tmpBytesMax), '--tmpfs', '/tmp'],
  ...['--bind', workspace, '/workspace', '--bind', socket, '/run/sallyport'],
  ...(memoryCounters === undefined ? [] : ['--ro-bind', memoryCounters, '/run/cgroup']),
  ...(sharedVolume === undefined ? [] : ['--bind', sharedVolume.hostPath, sharedVolume.guestPath]),
  ...['--remount-ro', '/', '--chdir', '/', ...confinement, '--clearenv'],
  ...Object.entries({ ...variables, ...serverVariables(memoryCounters, sharedVolume?.guestPath) }).flatMap(
    ([name, value]) => ['--setenv', name, value],
  ),
];

/** Runs inside the outer wall. */
export const serverCommand: readonly string[] = [node, ...serverFlags, '/opt/sallyport/server.mjs'];

/** Builds the nested wall as the server does, around a program that ends at once. */
export const wallsCommand = (): readonly string[] => [
  ...['/usr/bin/bash', '--norc', '--noprofile', '-c', `/usr/bin/mkdir ${relayFolder} && exec "$@"`, 'walls'],
  ...userLauncher(undefined),
  '/usr/bin/true',
];

const serverVariables = (
  memoryCounters: string | undefined,
  sharedPath: string | undefined,
): Readonly<Record<string, string>> => ({
  NODE_COMPILE_CACHE: `/opt/sallyport/${compileCache}`,
  NODE_COMPILE_CACHE_PORTABLE: '1',
  SANDBOX_LISTEN: 'unix:/run/sallyport/sandbox.sock',
  SANDBOX_PROC: 'read-only',
  SANDBOX_PROXY_PORT: '19998',
  SANDBOX_MODELS_PORT: '19999',
  SANDBOX_RELAY_SOCKET: `${relayFolder}/relay.sock`,
  SANDBOX_USER_LAUNCHER: JSON.stringify(userLauncher(sharedPath)),
  ...(sharedPath === undefined ? {} : { SANDBOX_SHARED_PATH: sharedPath }),
  ...(memoryCounters === undefined ? {} : { SANDBOX_CGROUP: '/run/cgroup' }),
});

/**
 * Closes the descriptors above 3 that a shell was given: the launching program may have left some open, and one of a
 * folder leads to all files of the host. For bash, since other shells cannot name a descriptor above 9.
 */
export const closeInherited = `for fd in /proc/self/fd/*; do fd=\${fd##*/}; if [ "$fd" -gt 3 ]; then eval "exec $fd>&-"; fi; done;`;

/** The server runs it inside the outer wall. The shell opens the filter, which bubblewrap reads from a descriptor. */
const userLauncher = (sharedPath: string | undefined): readonly string[] => [
  '/usr/bin/bash',
  '--norc',
  '--noprofile',
  '-c',
  `${closeInherited} exec 9<${filter}; exec /usr/bin/bwrap "$@"`,
  'user',
  ...walls,
  ...['--uid', '10001', '--gid', '10001', '--disable-userns', '--seccomp', '9'],
  ...system,
  ...['--ro-bind', '/etc', '/etc', '--ro-bind', node, node, '--ro-bind', loader, loader],
  ...userFiles.flatMap((name) => ['--ro-bind', `/opt/sallyport/${name}`, `/opt/sallyport/${name}`]),
  ...['--ro-bind', client, client],
  ...['--proc', '/proc', '--remount-ro', '/proc', '--dev', '/dev', '--remount-ro', '/dev'],
  ...['--perms', '1777', '--size', String(sharedMemoryBytesMax), '--tmpfs', '/dev/shm'],
  ...['--size', String(tmpBytesMax), '--tmpfs', '/tmp'],
  ...['--bind', '/workspace', '/workspace', '--ro-bind', relayFolder, '/run/sallyport'],
  ...(sharedPath === undefined ? [] : ['--bind', sharedPath, sharedPath]),
  ...['--remount-ro', '/', '--chdir', '/workspace'],
  ...confinement,
  '--',
  loader,
];

const etc = {
  // Debian's matplotlib does not start without this file; an empty one changes nothing.
  matplotlibrc: '',
  'fonts/fonts.conf': '<fontconfig><dir>/usr/share/fonts</dir><cachedir>/tmp/fonts</cachedir></fontconfig>\n',
  passwd: 'root:x:0:0:root:/:/usr/sbin/nologin\nsandbox:x:10001:10001:sandbox:/workspace:/bin/bash\n',
  group: 'root:x:0:\nsandbox:x:10001:\n',
  hosts: '127.0.0.1 localhost sandbox\n',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
};

/** Writes the programs that every sandbox of this cloud gets. */
export const writePrograms = async (folder: string): Promise<void> => {
  for (const name of ['alternatives', 'fonts', 'ssl/certs'])
    await mkdir(join(folder, 'etc', name), { recursive: true });
  await Promise.all([
    bundleSandbox(folder).then(async () => {
      await copyFile(filterFile(folder, process.arch), join(folder, 'user.bpf'));
      await giveCompileCache(join(folder, compileCache));
    }),
    linkNode(join(folder, 'node')),
    copyUnreadable(await elfInterpreterOf(process.execPath), join(folder, 'loader')),
    writeFile(join(folder, 'etc', 'ld.so.cache'), ''),
    ...Object.entries(etc).map(([name, text]) => writeFile(join(folder, 'etc', name), text)),
  ]);
};

/** Node looks for compiled code in a folder named with the number of its own user, whom it belongs to: the builder, not the server. */
const giveCompileCache = async (folder: string): Promise<void> => {
  await chmod(folder, 0o755);
  for (const name of await readdir(folder)) {
    const given = join(folder, name.replace(/-\d+$/, `-${serverUser}`));
    await rename(join(folder, name), given);
    await chmod(given, 0o755);
    for (const file of await readdir(given)) await chmod(join(given, file), 0o644);
  }
};

/** The sandbox's user may not enter the folders that lead to this Node. A copy has 120 MB: only where a link is refused. */
const linkNode = (path: string): Promise<void> =>
  link(process.execPath, path).catch(() => copyFile(process.execPath, path, constants.COPYFILE_FICLONE));

/** Executable for everyone, readable for root alone: a process that it starts cannot be traced (execve(2), ptrace(2)). */
const copyUnreadable = async (from: string, to: string): Promise<void> => {
  await copyFile(from, to);
  await chmod(to, 0o111);
};

const interpreterType = 3;
const headerBytes = 64;

/** The program that starts a dynamic executable: the loader of its C library (elf(5), PT_INTERP, in 64-bit files). */
const elfInterpreterOf = async (executable: string): Promise<string> => {
  await using file = await open(executable);
  const header = await read(file, 0, headerBytes);
  const size = header.readUInt16LE(54);
  const table = await read(file, Number(header.readBigUInt64LE(32)), size * header.readUInt16LE(56));
  for (let at = 0; at < table.length; at += size) {
    if (table.readUInt32LE(at) !== interpreterType) continue;
    const path = await read(
      file,
      Number(table.readBigUInt64LE(at + 8)),
      Number(table.readBigUInt64LE(at + 32)),
    );
    return path.toString().replace('\0', '');
  }
  throw new Error(`${executable} names no loader: sandboxes need a dynamically linked Node`);
};

const read = async (file: FileHandle, position: number, length: number): Promise<Buffer> => {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
};
