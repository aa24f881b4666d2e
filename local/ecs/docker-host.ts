/**
 * Starts a sandbox in a Docker container: for machines where bubblewrap cannot work and an engine answers.
 *
 * The image is the one of AWS, so user code is told apart by uid as on Fargate. Small, and never run where
 * it was written, because no engine was at hand there.
 */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bundleSandbox } from '../../sandbox-task/bundle.ts';
import { openAddressProxy } from './address-proxy.ts';
import { exitCodeOf, killedExit } from './oom-watch.ts';
import type {
  HostSettings,
  RunningSandbox,
  SandboxEnd,
  SandboxWish,
  SharedVolume,
} from './running-sandbox.ts';

const run = promisify(execFile);
const image = 'sallyport-sandbox:local';
const source = join(import.meta.dirname, '..', '..', 'sandbox-task');
/** What Docker gives a container by default and the server does not need; it keeps SETUID, SETGID and KILL. */
const capabilities = ['--cap-drop=ALL', '--cap-add=SETUID', '--cap-add=SETGID', '--cap-add=KILL'];

export const isDockerThere = (): boolean =>
  spawnSync('docker', ['info', '--format', '{{.ServerVersion}}'], { stdio: 'ignore', timeout: 5000 })
    .status === 0;

export const buildDockerImage = async (): Promise<void> => {
  await bundleSandbox(join(source, 'dist'));
  await run('docker', ['build', '--quiet', '--tag', image, '--target', 'python', source]);
};

export const startDockerSandbox = async (
  settings: HostSettings,
  wish: SandboxWish,
): Promise<RunningSandbox> => {
  const folder = join(settings.folder, wish.id);
  const socket = join(folder, 'socket');
  await mkdir(socket, { recursive: true });
  const { log, sharedVolume } = settings;
  const { unreachableMs } = wish;
  const proxy = await openAddressProxy(join(socket, 'sandbox.sock'), { unreachableMs, log });
  const container = `sallyport-${wish.id}`;
  const child = spawn(
    'docker',
    ['run', '--rm', '--name', container, ...limits(wish), ...walls(socket), ...shared(sharedVolume), image],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  child.stderr.setEncoding('utf8').on('data', (text: string) => log(text.trimEnd()));
  let isKilled = false;
  const tell = (...words: readonly string[]): void => {
    isKilled = true;
    spawn('docker', [...words, container], { stdio: 'ignore' }).once('error', (error) => log(error.message));
  };
  const ended = once(child, 'close').then(([code, signal]): SandboxEnd => {
    const exitCode = exitCodeOf(code, signal);
    // The engine forgets the container and why it died; nobody but us and the kernel kills it.
    return { exitCode, isOutOfMemory: exitCode === killedExit && !isKilled };
  });
  const removed = ended
    .then(() => proxy.close())
    .then(() => rm(folder, { recursive: true, force: true }))
    .catch((error: unknown) => log(`sandbox ${wish.id} left something behind: ${String(error)}`));
  return {
    address: proxy.address,
    ended,
    removed,
    kill: () => tell('kill'),
    terminate: (patienceMs) => tell('stop', `--time=${Math.ceil(patienceMs / 1000)}`),
  };
};

const limits = ({ cpus, memoryMb, variables }: SandboxWish): readonly string[] => [
  `--cpus=${cpus}`,
  `--memory=${memoryMb}m`,
  `--memory-swap=${memoryMb}m`,
  '--pids-limit=320',
  '--env=SANDBOX_LISTEN=unix:/run/sallyport/sandbox.sock',
  ...Object.entries(variables).map(([name, value]) => `--env=${name}=${value}`),
];

const walls = (socket: string): readonly string[] => [
  '--network=none',
  '--read-only',
  '--security-opt=no-new-privileges',
  ...capabilities,
  '--tmpfs=/workspace:uid=10001,gid=10001,mode=700,size=2g,exec',
  '--tmpfs=/tmp:size=256m,mode=1777',
  `--volume=${socket}:/run/sallyport`,
];

const shared = (volume: SharedVolume | undefined): readonly string[] =>
  volume === undefined
    ? []
    : [`--volume=${volume.hostPath}:${volume.guestPath}`, `--env=SANDBOX_SHARED_PATH=${volume.guestPath}`];
