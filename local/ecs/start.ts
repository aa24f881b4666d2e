/**
 * The ECS endpoint: RunTask, StopTask, DescribeTasks and ListTasks for the real `@aws-sdk/client-ecs`, with
 * sandboxes for tasks: in bubblewrap, or in Docker where bubblewrap cannot work.
 *
 * Refuses to start where no isolation is to be had: nothing ever runs unisolated.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { AwsError, answerError } from '../endpoint/aws-error.ts';
import { listen } from '../endpoint/listen.ts';
import { readBody } from '../endpoint/request-body.ts';
import { type HostSettings, type RunningSandbox, type SandboxWish, startSandbox } from './bubblewrap-host.ts';
import { findHierarchy } from './cgroup.ts';
import { buildDockerImage, isDockerThere, startDockerSandbox } from './docker-host.ts';
import { type Operation, operations } from './operations.ts';
import { writePrograms } from './sandbox-programs.ts';
import { openTaskRegistry, type TaskRegistry } from './task-registry.ts';

export type EcsOptions = {
  readonly home: string;
  readonly onTaskEvent: (detail: Readonly<Record<string, unknown>>) => void;
  readonly log?: (line: string) => void;
};

export type EcsEndpoint = {
  readonly url: string;
  readonly limits: 'enforced' | 'best effort';
  readonly stop: () => Promise<void>;
};

const bodyBytesMax = 256 * 1024;
const targetPrefix = 'AmazonEC2ContainerServiceV20141113.';

export const start = async ({
  home,
  onTaskEvent,
  log = () => undefined,
}: EcsOptions): Promise<EcsEndpoint> => {
  const isolation = chooseIsolation();
  const run = await makeRunFolder(home);
  const hierarchy = findHierarchy();
  await hierarchy?.sweep(run.name);
  const settings = { name: run.name, folder: run.tasks, programs: run.programs, hierarchy, log };
  const startSandbox = await isolation(settings);
  const tasks = openTaskRegistry({ onTaskEvent, startSandbox });
  const server = await listen((request, response) =>
    answerError(response, () => answer(tasks, request, response)),
  );
  return {
    url: server.url,
    limits: hierarchy === undefined ? 'best effort' : 'enforced',
    stop: async () => {
      await tasks.close();
      await server.stop();
      await rm(run.folder, { recursive: true, force: true });
    },
  };
};

/**
 * Outside the data folder, which sandbox users may not enter and whose path may be too long for a socket.
 * One per data folder: what a killed predecessor left is removed.
 */
const makeRunFolder = async (home: string) => {
  const name = createHash('sha256').update(resolve(home)).digest('hex').slice(0, 12);
  const folder = join(tmpdir(), `sallyport-run-${name}`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { mode: 0o711 });
  const tasks = join(folder, 'tasks');
  await mkdir(tasks, { mode: 0o711 });
  return { name, folder, tasks, programs: join(folder, 'programs') };
};

type Isolation = (settings: HostSettings) => Promise<(wish: SandboxWish) => Promise<RunningSandbox>>;

const bubblewrap: Isolation = async (settings) => {
  await writePrograms(settings.programs);
  return (wish) => startSandbox(settings, wish);
};

const docker: Isolation = async (settings) => {
  await buildDockerImage();
  return (wish) => startDockerSandbox(settings, wish);
};

const chooseIsolation = (): Isolation => {
  if (isBubblewrapUsable()) return bubblewrap;
  if (isDockerThere()) return docker;
  throw new Error(
    'no sandbox can be isolated here: install bubblewrap ("sudo apt-get install bubblewrap") and allow user namespaces',
  );
};

const isBubblewrapUsable = (): boolean => {
  const probe = [
    '--unshare-user',
    '--unshare-pid',
    '--ro-bind',
    '/usr',
    '/usr',
    '--symlink',
    'usr/lib',
    '/lib',
  ];
  const rest = ['--symlink', 'usr/lib64', '/lib64', '--proc', '/proc', '--', '/usr/bin/true'];
  return spawnSync('bwrap', [...probe, ...rest], { stdio: 'ignore' }).status === 0;
};

const answer = async (
  tasks: TaskRegistry,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const target = String(request.headers['x-amz-target'] ?? '');
  const operation: Operation | undefined = target.startsWith(targetPrefix)
    ? operations[target.slice(targetPrefix.length)]
    : undefined;
  if (operation === undefined)
    throw new AwsError(400, 'UnknownOperationException', { message: `there is no ${target} here` });
  const body = await readBody(request, bodyBytesMax);
  if (body === undefined) throw new AwsError(413, 'ClientException', { message: 'the request is too large' });
  const result = operation(tasks, JSON.parse(body.toString() || '{}'));
  response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' });
  response.end(JSON.stringify(result));
};
