/**
 * The tasks of one cluster: started once per client token, told of at every change, forgotten when this
 * process ends, because their sandboxes end with it.
 */
import type { RunTaskCommandInput } from '@aws-sdk/client-ecs';
import { AwsError } from '../endpoint/aws-error.ts';
import type { RunningSandbox, SandboxWish } from './bubblewrap-host.ts';
import { asRunning, asStopped, asStopping, newTask, type Task, taskId } from './task.ts';

export type TaskRegistry = {
  readonly run: (request: RunTaskCommandInput) => Task;
  readonly stop: (reference: string, reason: string) => Task | undefined;
  readonly find: (reference: string) => Task | undefined;
  readonly all: () => readonly Task[];
  /** Kills every sandbox and waits for their ends. */
  readonly close: () => Promise<void>;
};

export type RegistryOptions = {
  readonly startSandbox: (wish: SandboxWish) => Promise<RunningSandbox>;
  readonly onTaskEvent: (detail: Readonly<Record<string, unknown>>) => void;
};

type Entry = { task: Task; sandbox?: RunningSandbox; ended?: Promise<unknown> };

/** ECS remembers stopped tasks for about an hour; this many are plenty on one machine. */
const stoppedTasksMax = 500;

export const openTaskRegistry = ({ startSandbox, onTaskEvent }: RegistryOptions): TaskRegistry => {
  const entries = new Map<string, Entry>();
  const tokens = new Map<string, { readonly request: string; readonly id: string }>();

  const change = (entry: Entry, task: Task): void => {
    entry.task = task;
    onTaskEvent(task);
  };

  const live = async (entry: Entry, request: RunTaskCommandInput): Promise<void> => {
    try {
      entry.sandbox = await startSandbox(wishOf(entry.task, request));
      if (entry.task.desiredStatus === 'STOPPED') entry.sandbox.kill();
      else change(entry, asRunning(entry.task, entry.sandbox.address));
      change(entry, asStopped(entry.task, await entry.sandbox.ended));
    } catch (error) {
      const reason = `CannotStartContainerError: ${error instanceof Error ? error.message : String(error)}`;
      change(
        entry,
        asStopped({ ...entry.task, stopCode: 'TaskFailedToStart', stoppedReason: reason }, failedStart),
      );
    }
    forgetOldest(entries);
  };

  const find = (reference: string): Entry | undefined =>
    entries.get(reference.split('/').at(-1) ?? reference);

  return {
    run: (request) => {
      const bytes = JSON.stringify(request);
      const known = request.clientToken === undefined ? undefined : tokens.get(request.clientToken);
      if (known !== undefined) return repeated(known, bytes, entries);
      const entry: Entry = { task: newTask(request, nameOf(request.cluster)) };
      const id = taskId(entry.task);
      entries.set(id, entry);
      if (request.clientToken !== undefined) tokens.set(request.clientToken, { request: bytes, id });
      entry.ended = live(entry, request);
      return entry.task;
    },
    stop: (reference, reason) => {
      const entry = find(reference);
      if (entry !== undefined && entry.task.desiredStatus === 'RUNNING') {
        change(entry, asStopping(entry.task, reason));
        entry.sandbox?.kill();
      }
      return entry?.task;
    },
    find: (reference) => find(reference)?.task,
    all: () => [...entries.values()].map(({ task }) => task),
    close: async () => {
      for (const { sandbox } of entries.values()) sandbox?.kill();
      await Promise.allSettled([...entries.values()].map(({ ended }) => ended));
    },
  };
};

const failedStart = { exitCode: 1, isOutOfMemory: false };

const nameOf = (cluster = 'default'): string => cluster.split('/').at(-1) ?? cluster;

/** https://docs.aws.amazon.com/AmazonECS/latest/APIReference/ECS_Idempotency.html */
const repeated = (
  known: { readonly request: string; readonly id: string },
  request: string,
  entries: ReadonlyMap<string, Entry>,
): Task => {
  const task = entries.get(known.id)?.task;
  if (task !== undefined && known.request === request) return task;
  throw new AwsError(400, 'ConflictException', {
    message: 'The client token was used with another request.',
    resourceIds: task === undefined ? [] : [task.taskArn],
  });
};

const wishOf = (task: Task, { overrides }: RunTaskCommandInput): SandboxWish => {
  const [container] = overrides?.containerOverrides ?? [];
  const variables = (container?.environment ?? []).map(({ name, value }) => [name ?? '', value ?? '']);
  return {
    id: taskId(task),
    cpus: Number(overrides?.cpu ?? 512) / 1024,
    memoryMb: container?.memory ?? Number(overrides?.memory ?? 1024),
    variables: Object.fromEntries(variables),
  };
};

const forgetOldest = (entries: Map<string, Entry>): void => {
  const stopped = [...entries].filter(([, { task }]) => task.lastStatus === 'STOPPED');
  for (const [id] of stopped.slice(0, -stoppedTasksMax)) entries.delete(id);
};
