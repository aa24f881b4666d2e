/**
 * Starts a sandbox in a Docker container, on machines where bubblewrap cannot work and a Docker engine answers.
 *
 * The image is the one of AWS, so user code has its own uid as on Fargate. It has not been run with a real engine.
 */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bundleSandbox } from '../../sandbox-task/bundle.ts';
import { openAddressProxy } from './address-proxy.ts';
import {
  exitCodeOf,
  type HostSettings,
  killedExit,
  type RunningSandbox,
  type SandboxEnd,
  type SandboxRequest,
  type SharedVolume,
} from './running-sandbox.ts';

const run = promisify(execFile);
const image = 'sallyport-sandbox:local';
const source = join(import.meta.dirname, '..', '..', 'sandbox-task');
/** Drops Docker's default capabilities except the three that the server needs. */
const capabilities = ['--cap-drop=ALL', '--cap-add=SETUID', '--cap-add=SETGID', '--cap-add=KILL'];

export const isDockerAvailable = (): boolean =>
  spawnSync('docker', ['info', '--format', '{{.ServerVersion}}'], { stdio: 'ignore', timeout: 5000 })
    .status === 0;

export const buildDockerImage = async (): Promise<void> => {
  await bundleSandbox(join(source, 'dist'));
  await run('docker', ['build', '--quiet', '--tag', image, '--target', 'python', source]);
};

export const startDockerSandbox = async (
  settings: HostSettings,
  request: SandboxRequest,
): Promise<RunningSandbox> => {
  const folder = join(settings.folder, request.id);
  const socket = join(folder, 'socket');
  await mkdir(socket, { recursive: true });
  const { log, sharedVolume } = settings;
  const { unreachableMs } = request;
  const proxy = await openAddressProxy(join(socket, 'sandbox.sock'), { unreachableMs, log });
  const container = `sallyport-${request.id}`;
  const child = spawn(
    'docker',
    [
      'run',
      '--rm',
      '--name',
      container,
      ...limits(request),
      ...walls(socket),
      ...shared(sharedVolume),
      image,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  child.stderr.setEncoding('utf8').on('data', (text: string) => log(text.trimEnd()));
  let isKilled = false;
  const end = (...parameters: readonly string[]): void => {
    isKilled = true;
    spawn('docker', [...parameters, container], { stdio: 'ignore' }).once('error', (error) =>
      log(error.message),
    );
  };
  const ended = once(child, 'close').then(([code, signal]): SandboxEnd => {
    const exitCode = exitCodeOf(code, signal);
    // The engine forgets why the container ended, but only this program and the kernel kill it.
    return { exitCode, isOutOfMemory: exitCode === killedExit && !isKilled };
  });
  const removed = ended
    .then(() => proxy.close())
    .then(() => rm(folder, { recursive: true, force: true }))
    .catch((error: unknown) =>
      log(`sandbox ${request.id} could not be removed completely: ${String(error)}`),
    );
  return {
    address: proxy.address,
    ended,
    removed,
    kill: () => end('kill'),
    terminate: (timeoutMs) => end('stop', `--time=${Math.ceil(timeoutMs / 1000)}`),
  };
};

const limits = ({ cpus, memoryMb, variables }: SandboxRequest): readonly string[] => [
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
