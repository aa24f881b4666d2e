/**
 * The ECS endpoint: RunTask, StopTask, DescribeTasks and ListTasks for the real `@aws-sdk/client-ecs`, with
 * sandboxes for tasks: in bubblewrap, or in Docker where bubblewrap cannot work.
 *
 * Refuses to start where no isolation is to be had, and with a shared volume that sandboxes could not use.
 * Faults can be asked for, and changed while it runs (`faults.ts`).
 */
import { createHash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Credentials, type Keys, makeKeys } from '../endpoint/keys.ts';
import { listenSigned } from '../endpoint/listen.ts';
import { findHierarchy } from './cgroup.ts';
import { openEventDelivery, type TaskEventDetail } from './event-delivery.ts';
import { type Faults, openFaultPlan } from './faults.ts';
import { chooseIsolation, type Isolation } from './isolation.ts';
import { answer } from './requests.ts';
import type { SharedVolume } from './running-sandbox.ts';
import { claimIdentities, type Identities, noIdentities } from './sandbox-identity.ts';
import { prepareSharedVolume } from './shared-volume.ts';
import { openTaskRegistry } from './task-registry.ts';

export type EcsOptions = {
  readonly home: string;
  readonly onTaskEvent: (detail: TaskEventDetail) => void;
  readonly log?: (line: string) => void;
  readonly faults?: Faults;
  /** A folder of this machine that every sandbox may write. */
  readonly sharedVolume?: SharedVolume | undefined;
  /** How long a stopped server may take to end before it is killed. */
  readonly stopTimeoutMs?: number;
  readonly keys?: Keys;
};

export type EcsEndpoint = {
  readonly url: string;
  readonly credentials: Credentials;
  readonly limits: 'enforced' | 'best effort';
  readonly stop: () => Promise<void>;
};

const defaultStopTimeoutMs = 25_000;

export const start = async (options: EcsOptions): Promise<EcsEndpoint> => {
  const isolation = chooseIsolation();
  const identities = isolation.name === 'bubblewrap' ? claimIdentities() : noIdentities;
  try {
    return await startWith(options, isolation, identities);
  } catch (error) {
    identities.release();
    throw error;
  }
};

const startWith = async (
  options: EcsOptions,
  isolation: Isolation,
  identities: Identities,
): Promise<EcsEndpoint> => {
  const { home, onTaskEvent, log = () => undefined, sharedVolume, keys = makeKeys() } = options;
  if (sharedVolume !== undefined)
    await prepareSharedVolume(sharedVolume, { name: isolation.name, identities });
  const run = await makeRunFolder(home);
  const hierarchy = findHierarchy();
  await hierarchy?.sweep(run.name);
  const { name, programs } = run;
  const settings = { name, folder: run.tasks, programs, hierarchy, sharedVolume, identities, log };
  await isolation.prepare(settings);
  const faults = openFaultPlan(options.faults ?? {});
  const events = openEventDelivery(faults, onTaskEvent);
  const tasks = openTaskRegistry({
    faults,
    onTaskEvent: events.deliver,
    startSandbox: (wish) => isolation.start(settings, wish),
    stopTimeoutMs: options.stopTimeoutMs ?? defaultStopTimeoutMs,
  });
  const server = await listenSigned((request, response) => answer({ tasks, faults }, request, response), {
    keys,
  });
  return {
    url: server.url,
    credentials: keys.issue('local'),
    limits: hierarchy === undefined ? 'best effort' : 'enforced',
    stop: async () => {
      await tasks.close();
      events.stop();
      await server.stop();
      await rm(run.folder, { recursive: true, force: true });
      identities.release();
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
