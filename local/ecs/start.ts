/**
 * The ECS endpoint: RunTask, StopTask, DescribeTasks and ListTasks for the real `@aws-sdk/client-ecs`. Each task is a
 * sandbox, isolated by bubblewrap, or by a container of Docker or Podman where bubblewrap cannot work.
 *
 * The start is refused where neither isolation works, and with a shared volume that sandboxes could not use. Faults can
 * be set at the start and while it runs (`faults.ts`).
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { NamedTemplate } from '#shared/domain/template.ts';
import type { Keys } from '../endpoint/account.ts';
import { type Endpoint, listenSigned } from '../endpoint/listen.ts';
import { chooseSandboxPort } from './address-proxy.ts';
import { writePrograms } from './bubblewrap.ts';
import { startSandbox } from './bubblewrap-host.ts';
import { findHierarchy } from './cgroup.ts';
import {
  buildImage,
  type ContainerEngine,
  type Containers,
  findContainerEngine,
  startInContainer,
  sweepContainers,
} from './container-host.ts';
import { type Faults, openEventDelivery, openFaultPlan, type TaskEventDetail } from './faults.ts';
import { answer } from './operations.ts';
import { makeRunFolder } from './run-folder.ts';
import type { HostSettings, RunningSandbox, SandboxRequest, SharedVolume } from './running-sandbox.ts';
import { claimIdentities, type Identities, noIdentities } from './sandbox-identity.ts';
import { prepareSharedVolume } from './shared-volume.ts';
import { openTaskRegistry } from './task-registry.ts';
import { openTemplateImages, reasonOf } from './template-images.ts';

type EcsOptions = {
  readonly home: string;
  readonly onTaskEvent: (detail: TaskEventDetail) => void;
  readonly log?: (line: string) => void;
  readonly faults?: Faults;
  /** A folder of the host that every sandbox may write. */
  readonly sharedVolume?: SharedVolume | undefined;
  /** The time for a stopped server to end before it is killed. */
  readonly stopTimeoutMs?: number;
  readonly keys?: Keys;
  /** Templates besides the platform's own, whatever the isolation of those. */
  readonly templates?: readonly NamedTemplate[] | undefined;
  /** Gets what the operator should know of them. */
  readonly progress?: (line: string) => void;
  /** At which sandboxes are reached. Absent: one that is free. */
  readonly port?: number;
  /** Absent: bubblewrap, or else an engine of containers that answers. */
  readonly isolation?: Isolation;
};

export type EcsEndpoint = Endpoint & {
  readonly limits: 'enforced' | 'best effort';
  /** The reason why no sandbox can start from the operator's templates. */
  readonly templatesProblem?: string | undefined;
  /** At which the sandboxes of this run are reached. */
  readonly sandboxPort: number;
};

const defaultStopTimeoutMs = 25_000;

export const start = async (options: EcsOptions): Promise<EcsEndpoint> => {
  const isolation = options.isolation ?? chooseIsolation();
  const identities = isolation.name === 'bubblewrap' ? claimIdentities() : noIdentities;
  try {
    return await startWith(options, isolation, identities);
  } catch (error) {
    identities.close();
    throw error;
  }
};

const startWith = async (
  options: EcsOptions,
  isolation: Isolation,
  identities: Identities,
): Promise<EcsEndpoint> => {
  const { home, onTaskEvent, log = () => undefined, sharedVolume, keys, templates = [] } = options;
  if (sharedVolume !== undefined)
    await prepareSharedVolume(sharedVolume, { name: isolation.name, identities });
  const run = await makeRunFolder(home);
  const hierarchy = findHierarchy();
  await hierarchy?.sweep(run.name);
  const { name, programs } = run;
  const port = options.port ?? (await chooseSandboxPort());
  const settings = { name, folder: run.tasks, programs, hierarchy, sharedVolume, identities, port, log };
  const engine = isolation.engine ?? (templates.length === 0 ? undefined : findContainerEngine());
  // Before one of this run begins.
  if (engine !== undefined)
    await sweepContainers(engine, name).catch((cause: unknown) =>
      log(`containers of the last start are left: ${reasonOf(cause)}`),
    );
  await isolation.prepare(settings);
  const images = openTemplateImages({
    ...{ templates, folder: join(run.folder, 'templates'), engine },
    progress: options.progress ?? log,
  });
  const faults = openFaultPlan(options.faults ?? {});
  const events = openEventDelivery(faults, onTaskEvent);
  const tasks = openTaskRegistry({
    faults,
    onTaskEvent: events.deliver,
    startSandbox: async (request) => {
      const containers = await images.imageOf(request.template)?.catch((cause: unknown) => {
        throw new Error(`template ${request.template}: ${reasonOf(cause)}`, { cause });
      });
      return containers === undefined
        ? isolation.start(settings, request)
        : startInContainer(containers, settings, request);
    },
    stopTimeoutMs: options.stopTimeoutMs ?? defaultStopTimeoutMs,
  });
  const server = await listenSigned(
    (request, response) =>
      answer({ tasks, faults, templates: templates.map(({ name }) => name) }, request, response),
    {
      keys,
    },
  );
  return {
    ...server,
    limits: hierarchy === undefined ? 'best effort' : 'enforced',
    templatesProblem: images.problem,
    sandboxPort: port,
    stop: async () => {
      images.stop();
      await tasks.close();
      events.stop();
      await server.stop();
      await run.remove();
      identities.close();
    },
  };
};

export type Isolation = {
  readonly name: 'bubblewrap' | 'container';
  /** Of the containers. */
  readonly engine?: ContainerEngine;
  readonly prepare: (settings: HostSettings) => Promise<void>;
  readonly start: (settings: HostSettings, request: SandboxRequest) => Promise<RunningSandbox>;
};

const bubblewrap: Isolation = {
  name: 'bubblewrap',
  prepare: ({ programs }) => writePrograms(programs),
  start: startSandbox,
};

/** Runs the sandboxes as containers of an image that exists. */
export const inContainers = (containers: Containers): Isolation => ({
  name: 'container',
  engine: containers.engine,
  prepare: async () => undefined,
  start: (settings, request) => startInContainer(containers, settings, request),
});

const inBuiltContainers = (engine: ContainerEngine): Isolation => {
  const { promise: containers, resolve } = Promise.withResolvers<Containers>();
  return {
    name: 'container',
    engine,
    prepare: async () => resolve(await buildImage(engine)),
    start: async (settings, request) => startInContainer(await containers, settings, request),
  };
};

const chooseIsolation = (): Isolation => {
  if (isBubblewrapUsable()) return bubblewrap;
  const engine = findContainerEngine();
  if (engine !== undefined) return inBuiltContainers(engine);
  throw new Error(
    'sandboxes need bubblewrap, Docker or Podman: install bubblewrap ("sudo apt-get install bubblewrap") and allow unprivileged user namespaces, or start Docker',
  );
};

const isBubblewrapUsable = (): boolean => {
  const probe = [
    ...['--unshare-user', '--unshare-pid', '--ro-bind', '/usr', '/usr'],
    ...['--symlink', 'usr/lib', '/lib', '--symlink', 'usr/lib64', '/lib64'],
    ...['--proc', '/proc', '--', '/usr/bin/true'],
  ];
  return spawnSync('bwrap', probe, { stdio: 'ignore' }).status === 0;
};
