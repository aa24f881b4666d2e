/**
 * The tasks of one cluster. A task starts once per client token and is published at every change; tasks live in memory,
 * since their sandboxes end with this process.
 *
 * A stop waits for the server to end; the stop of the whole cloud does not. STOPPED is published once no process of
 * the sandbox is left.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { RunTaskCommandInput } from '@aws-sdk/client-ecs';
import { isPoolEntry } from '#shared/domain/pool.ts';
import { decodeTaskGroup } from '#shared/domain/sandbox.ts';
import { AwsError } from '../endpoint/http-messages.ts';
import { type FaultPlan, isWithoutCapacity, startFailure, type TaskEventDetail } from './faults.ts';
import type { RunningSandbox, SandboxRequest } from './running-sandbox.ts';
import {
  asDeprovisioning,
  asFailedStart,
  asRunning,
  asStopped,
  asStopping,
  asStopRequested,
  newTask,
  type Task,
  taskId,
  templateOf,
  withoutTags,
} from './task.ts';

export type TaskRegistry = {
  /** Undefined when there is no capacity for it. */
  readonly run: (request: RunTaskCommandInput) => Task | undefined;
  readonly stop: (reference: string, reason: string) => Task | undefined;
  readonly find: (reference: string) => Task | undefined;
  readonly all: () => readonly Task[];
  /** Kills every sandbox and waits for their ends. */
  readonly close: () => Promise<void>;
};

type RegistryOptions = {
  readonly startSandbox: (request: SandboxRequest) => Promise<RunningSandbox>;
  readonly onTaskEvent: (detail: TaskEventDetail) => void;
  readonly faults: FaultPlan;
  /** The time for a server to end after SIGTERM. */
  readonly stopTimeoutMs: number;
  /** A task of the warm pool starts this much later: the processors belong to the command that emptied the entry. */
  readonly poolPauseMs?: number;
};

type Entry = {
  task: Task;
  readonly request: RunTaskCommandInput;
  /** Aborted when the sandbox must not start, or must end. */
  readonly cancel: AbortController;
  sandbox?: RunningSandbox;
};

/** ECS keeps stopped tasks for about an hour and tokens for a day; this many suffice on one machine. */
const stoppedTasksMax = 500;
const defaultCpu = '512';
const poolPauseMsDefault = 2000;
/** Tens of seconds on Fargate. */
const deprovisioningMs = 1000;

export const openTaskRegistry = (options: RegistryOptions): TaskRegistry => {
  const { onTaskEvent, faults, stopTimeoutMs } = options;
  const entries = new Map<string, Entry>();
  const lives = new Set<Promise<void>>();
  let isClosed = false;

  const change = (entry: Entry, task: Task): void => {
    entry.task = task;
    onTaskEvent(withoutTags(task));
  };

  const begin = (request: RunTaskCommandInput): Task => {
    const entry: Entry = {
      task: newTask(request, nameOf(request.cluster)),
      request,
      cancel: new AbortController(),
    };
    entries.set(taskId(entry.task), entry);
    const life = live(entry, (task) => change(entry, task), options).then(() => {
      lives.delete(life);
      forgetOldest(entries);
    });
    lives.add(life);
    return entry.task;
  };

  const find = (reference: string): Entry | undefined =>
    entries.get(reference.split('/').at(-1) ?? reference);

  return {
    run: (request) => {
      if (isClosed) throw new AwsError(500, 'ServerException', 'The cluster is stopping.');
      const known = repeated(request, entries);
      if (known !== undefined) return known;
      const cpu = request.overrides?.cpu ?? defaultCpu;
      if (isWithoutCapacity(faults.current(), faults.count('placement'), cpu)) return undefined;
      return begin(request);
    },
    stop: (reference, reason) => {
      const entry = find(reference);
      if (entry === undefined || entry.task.desiredStatus === 'STOPPED') return entry?.task;
      const requested = asStopRequested(entry.task, reason);
      change(entry, requested);
      change(entry, asStopping(requested));
      entry.cancel.abort();
      entry.sandbox?.terminate(stopTimeoutMs);
      return requested;
    },
    find: (reference) => find(reference)?.task,
    all: () => [...entries.values()].map(({ task }) => task),
    close: async () => {
      isClosed = true;
      for (const { cancel, sandbox } of entries.values()) {
        cancel.abort();
        sandbox?.kill();
      }
      await Promise.all(lives);
    },
  };
};

/** Runs one task from PROVISIONING to STOPPED, and until its sandbox is removed. */
const live = async (
  entry: Entry,
  change: (task: Task) => void,
  { faults, startSandbox, poolPauseMs = poolPauseMsDefault }: RegistryOptions,
): Promise<void> => {
  const { provisioningMs = 0, unreachableMs = 0 } = faults.current();
  const pauseMs = provisioningMs + (isForPool(entry.request) ? poolPauseMs : 0);
  const failure = startFailure(faults.current(), faults.count('start'));
  const { signal } = entry.cancel;
  if (pauseMs > 0) await delay(pauseMs, undefined, { signal }).catch(() => undefined);
  if (signal.aborted) return change(asStopped(entry.task));
  /** ECS tells of such an end twice. */
  const endByItself = async (stopped: Task): Promise<void> => {
    change(asDeprovisioning(stopped));
    await delay(deprovisioningMs, undefined, { signal }).catch(() => undefined);
    change(asStopped(entry.task));
  };
  if (failure !== undefined) {
    // RunTask has answered by then.
    await delay(0);
    return endByItself(asFailedStart(entry.task, failure));
  }
  try {
    entry.sandbox = await startSandbox({ ...sandboxRequestOf(entry.task, entry.request), unreachableMs });
  } catch (error) {
    const reason = `CannotStartContainerError: ${error instanceof Error ? error.message : String(error)}`;
    return endByItself(asFailedStart(entry.task, reason));
  }
  if (signal.aborted) entry.sandbox.kill();
  else change(asRunning(entry.task, entry.sandbox.address));
  const end = await entry.sandbox.ended;
  if (signal.aborted) change(asStopped(entry.task, end));
  else await endByItself(asStopped(entry.task, end));
  await entry.sandbox.removed;
};

const isForPool = ({ group = '' }: RunTaskCommandInput): boolean => {
  const named = decodeTaskGroup(group);
  return named !== undefined && isPoolEntry(named.workspaceId);
};

const nameOf = (cluster = 'default'): string => cluster.split('/').at(-1) ?? cluster;

/**
 * The task of an earlier request with this client token. Another request with the same token is refused.
 * https://docs.aws.amazon.com/AmazonECS/latest/APIReference/ECS_Idempotency.html
 */
const repeated = (request: RunTaskCommandInput, entries: ReadonlyMap<string, Entry>): Task | undefined => {
  if (request.clientToken === undefined) return undefined;
  const known = entries.values().find((entry) => entry.request.clientToken === request.clientToken);
  if (known === undefined || JSON.stringify(known.request) === JSON.stringify(request)) return known?.task;
  throw new AwsError(400, 'ConflictException', {
    message: 'The client token was used with another request.',
    resourceIds: [known.task.taskArn],
  });
};

const sandboxRequestOf = (
  task: Task,
  { overrides }: RunTaskCommandInput,
): Omit<SandboxRequest, 'unreachableMs'> => {
  const [container] = overrides?.containerOverrides ?? [];
  const variables = (container?.environment ?? []).map(({ name, value }) => [name ?? '', value ?? '']);
  return {
    id: taskId(task),
    template: templateOf(task.taskDefinitionArn),
    cpus: Number(overrides?.cpu ?? defaultCpu) / 1024,
    memoryMb: container?.memory ?? Number(overrides?.memory ?? 1024),
    variables: Object.fromEntries(variables),
  };
};

const forgetOldest = (entries: Map<string, Entry>): void => {
  const stopped = [...entries].filter(([, { task }]) => task.lastStatus === 'STOPPED');
  for (const [id] of stopped.slice(0, -stoppedTasksMax)) entries.delete(id);
};
