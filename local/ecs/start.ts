/**
 * The ECS endpoint: RunTask, StopTask, DescribeTasks and ListTasks for the real `@aws-sdk/client-ecs`. Each task is a
 * sandbox, isolated by bubblewrap, or by a container of Docker or Podman where bubblewrap cannot work.
 *
 * The start is refused where neither isolation works, and with a shared volume that sandboxes could not use. Faults can
 * be set at the start and while it runs (`faults.ts`).
 */
import { join } from 'node:path';
import type { NamedTemplate } from '#shared/domain/template.ts';
import type { Keys } from '../endpoint/account.ts';
import { type Endpoint, listenSigned } from '../endpoint/listen.ts';
import { explainBubblewrap } from '../process/bubblewrap-advice.ts';
import { chooseSandboxPort } from './address-proxy.ts';
import { writePrograms } from './bubblewrap.ts';
import { proveWalls, startSandbox } from './bubblewrap-host.ts';
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
import { claimIdentities } from './sandbox-identity.ts';
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
  /** Templates in addition to the platform's own, independent of the isolation of those. */
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
  const { home, onTaskEvent, log = () => undefined, sharedVolume, keys, templates = [] } = options;
  const { progress = log } = options;
  await using starting = new AsyncDisposableStack();
  const identities = starting.adopt(claimIdentities(), ({ close }) => close());
  const run = starting.adopt(await makeRunFolder(home), ({ remove }) => remove());
  const hierarchy = findHierarchy();
  await hierarchy?.sweep(run.name);
  const { name, programs } = run;
  const port = options.port ?? (await chooseSandboxPort());
  const settings = { name, folder: run.tasks, programs, hierarchy, sharedVolume, identities, port, log };
  const isolation = options.isolation ?? (await chooseIsolation(settings, progress));
  if (sharedVolume !== undefined)
    await prepareSharedVolume(sharedVolume, { name: isolation.name, identities });
  const engine = isolation.engine ?? (templates.length === 0 ? undefined : findContainerEngine());
  // Before one of this run begins.
  if (engine !== undefined)
    await sweepContainers(engine, name).catch((cause: unknown) =>
      log(`containers of the last start are left: ${reasonOf(cause)}`),
    );
  const images = openTemplateImages({
    ...{ templates, folder: join(run.folder, 'templates'), engine, progress },
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
  const started = starting.move();
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
      await started.disposeAsync();
    },
  };
};

export type Isolation = {
  readonly name: 'bubblewrap' | 'container';
  /** Of the containers. */
  readonly engine?: ContainerEngine;
  readonly start: (settings: HostSettings, request: SandboxRequest) => Promise<RunningSandbox>;
};

/** Runs the sandboxes as containers of an image that exists. */
export const inContainers = (containers: Containers): Isolation => ({
  name: 'container',
  engine: containers.engine,
  start: (settings, request) => startInContainer(containers, settings, request),
});

const chooseIsolation = async (
  settings: HostSettings,
  progress: (line: string) => void,
): Promise<Isolation> => {
  await writePrograms(settings.programs);
  const refusal = await proveWalls(settings).catch(reasonOf);
  if (refusal === undefined) return { name: 'bubblewrap', start: startSandbox };
  const problem = explainBubblewrap(refusal);
  const engine = findContainerEngine();
  if (engine === undefined)
    throw new Error(
      `sandboxes cannot run: ${problem}, or start Podman, or Docker as root or in its rootless mode`,
    );
  progress(`Sandboxes run in ${engine}: ${problem}`);
  return inContainers(await buildImage(engine));
};
