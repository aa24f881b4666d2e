/**
 * Starts a sandbox in a container of Docker or Podman, on machines where bubblewrap cannot work and an engine answers.
 *
 * The image is the one of AWS, so user code has its own uid as on Fargate.
 */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { NamedTemplate } from '#shared/domain/template.ts';
import { replaceFiles } from '../../sandbox-task/bundle.ts';
import { templateTarget, writeTemplateFolder } from '../../sandbox-task/template-image.ts';
import { logLines } from '../process/log-lines.ts';
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
const localImage = 'sallyport-sandbox:local';
/** Of a build, whose last lines say why it failed. */
const outputBytesMax = 16 * 1_048_576;
const source = join(import.meta.dirname, '..', '..', 'sandbox-task');
/** Drops an engine's default capabilities except those that the server and the launcher of user code need. */
const capabilities = [
  '--cap-drop=ALL',
  ...['SETUID', 'SETGID', 'SETPCAP', 'KILL'].map((name) => `--cap-add=${name}`),
];

/** Of the containers of a run, whose name is that of its data folder. */
const runLabel = 'sallyport.run';
/** A shell's exit code for a program that it cannot run. */
const cannotStartExit = 127;
/** The engine's client ends soon after its container; if it does not, the container had not begun. */
const endPauseMs = 200;

export type ContainerEngine = 'docker' | 'podman';

/**
 * An engine that answers, and whose containers may write a folder of this user; its client alone is not enough. The root of
 * Docker's containers is another user, without the capability to write files of others, unless Docker is in its rootless mode.
 */
export const findContainerEngine = (isRoot = process.getuid?.() === 0): ContainerEngine | undefined => {
  const docker = ask('docker', '--format', '{{json .SecurityOptions}}');
  if (docker !== undefined && (isRoot || docker.includes('name=rootless'))) return 'docker';
  return ask('podman') === undefined ? undefined : 'podman';
};

/** The answer of an engine about itself. */
const ask = (engine: ContainerEngine, ...parameters: readonly string[]): string | undefined => {
  const { status, stdout } = spawnSync(engine, ['info', ...parameters], { encoding: 'utf8', timeout: 5000 });
  return status === 0 ? stdout : undefined;
};

export type Containers = {
  readonly engine: ContainerEngine;
  readonly image: string;
  /** With nothing that Fargate does not give a task, to test the image: an init process, and no walls of the engine. */
  readonly asFargate?: boolean;
};

/** Containers outlive a killed program: those that the last run of this data folder left are removed. */
export const sweepContainers = async (engine: ContainerEngine, runName: string): Promise<void> => {
  const { stdout } = await run(engine, [
    ...['ps', '--all', '--quiet', '--filter'],
    `label=${runLabel}=${runName}`,
  ]);
  const left = stdout.split('\n').filter((id) => id !== '');
  if (left.length > 0) await run(engine, ['rm', '--force', ...left]);
};

/** Builds the image from the sources. */
export const buildImage = async (engine: ContainerEngine): Promise<Containers> => {
  await replaceFiles(join(source, 'dist'));
  await run(engine, ['build', '--quiet', '--tag', localImage, '--target', 'python', source]);
  return { engine, image: localImage };
};

/** Builds the image of an operator's template; `folder` is written for a Dockerfile. */
export const buildTemplateImage = async (
  engine: ContainerEngine,
  template: NamedTemplate,
  { folder, signal }: { readonly folder: string; readonly signal: AbortSignal },
): Promise<Containers> => {
  const image = `sallyport-template-${template.name}:local`;
  const build = (...parameters: readonly string[]) =>
    run(engine, ['build', '--quiet', '--tag', image, ...parameters], { signal, maxBuffer: outputBytesMax });
  if (template.image === undefined) {
    await writeTemplateFolder(template.dockerfile, folder);
    await build('--target', templateTarget, folder);
  } else {
    await replaceFiles(join(source, 'dist'));
    await build('--target', 'node', '--build-arg', `NODE_IMAGE=${template.image}`, source);
  }
  return { engine, image };
};

export const startInContainer = async (
  { engine, image, asFargate = false }: Containers,
  settings: HostSettings,
  request: SandboxRequest,
): Promise<RunningSandbox> => {
  await using starting = new AsyncDisposableStack();
  const folder = join(settings.folder, request.id);
  const socket = join(folder, 'socket');
  starting.defer(() => rm(folder, { recursive: true, force: true }));
  await mkdir(socket, { recursive: true });
  const { log, port, sharedVolume } = settings;
  const { unreachableMs } = request;
  const proxy = await openAddressProxy(join(socket, 'sandbox.sock'), { port, unreachableMs, log });
  starting.defer(() => proxy.close());
  const container = `sallyport-${request.id}`;
  const child = spawn(
    engine,
    [
      'run',
      '--rm',
      '--name',
      container,
      `--label=${runLabel}=${settings.name}`,
      ...limits(request),
      ...walls(socket),
      ...(asFargate ? fargateDisk : disk[engine]),
      ...shared(request.variables['SANDBOX_SHARED_PATH'] === 'none' ? undefined : sharedVolume),
      image,
    ],
    // Podman's monitor writes a file into its folder when memory is short. The terminal's Ctrl-C does not reach it.
    { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'], detached: true },
  );
  const running = starting.move();
  logLines(child.stderr, log);
  child.once('error', (error) => log(`sandbox ${request.id} did not start: ${error.message}`));
  let isKilled = false;
  // The engine refuses it until the container runs, and would then start it all the same.
  const end = async (...parameters: readonly string[]): Promise<void> => {
    isKilled = true;
    while (child.exitCode === null && child.signalCode === null) {
      await once(spawn(engine, [...parameters, container], { stdio: 'ignore' }), 'exit');
      await Promise.race([ended, delay(endPauseMs)]);
    }
  };
  const endLogged = (...parameters: readonly string[]): void =>
    void end(...parameters).catch((error: unknown) => log(`a sandbox cannot be ended: ${String(error)}`));
  const ended = exitOf(child).then((exitCode): SandboxEnd => {
    // The engine forgets why the container ended, but only this program and the kernel kill it.
    return { exitCode, isOutOfMemory: exitCode === killedExit && !isKilled };
  });
  const removed = ended
    .then(() => running.disposeAsync())
    .catch((error: unknown) =>
      log(`sandbox ${request.id} could not be removed completely: ${String(error)}`),
    );
  return {
    address: proxy.address,
    ended,
    removed,
    kill: () => endLogged('kill'),
    terminate: (timeoutMs) => endLogged('stop', `--time=${Math.ceil(timeoutMs / 1000)}`),
  };
};

const exitOf = (child: ChildProcess): Promise<number> =>
  new Promise((resolve) => {
    child.once('close', (code, signal) => resolve(exitCodeOf(code, signal)));
    child.once('error', () => resolve(cannotStartExit));
  });

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
  ...capabilities,
  `--volume=${socket}:/run/sallyport`,
];

/** Podman gives no tmpfs to a user: its workspace is the image's own volume, on the disk without a limit. */
const disk: Readonly<Record<ContainerEngine, readonly string[]>> = {
  docker: [
    '--security-opt=no-new-privileges',
    '--tmpfs=/workspace:uid=10001,gid=10001,mode=700,size=2g,exec',
    '--tmpfs=/tmp:size=256m,mode=1777',
  ],
  podman: ['--security-opt=no-new-privileges', '--read-only-tmpfs=false', '--tmpfs=/tmp:size=256m,mode=1777'],
};
const fargateDisk = ['--init', '--read-only-tmpfs=false'];

const shared = (volume: SharedVolume | undefined): readonly string[] =>
  volume === undefined
    ? []
    : [`--volume=${volume.hostPath}:${volume.guestPath}`, `--env=SANDBOX_SHARED_PATH=${volume.guestPath}`];
