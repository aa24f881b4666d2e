/**
 * ECS in the simulated world: one task per start token, addresses that are used again, events that come late,
 * twice, in another order or not at all, and a list that is a little behind.
 */

import type { TaskEvent } from '#shared/application/sandbox/record-task-event.ts';
import { decodeTaskGroup } from '#shared/domain/sandbox.ts';
import { AppError } from '#shared/errors.ts';
import type { HostTask, SandboxHost, StartTask } from '#shared/ports/sandbox.ts';
import type { Invocation } from './invocation.ts';
import { type Ledger, Machine, type MachineOptions } from './machine.ts';
import type { Simulation } from './world.ts';

export type Task = {
  readonly taskArn: string;
  readonly group: string;
  readonly createdAt: number;
  readonly machine: Machine;
  status: 'PROVISIONING' | 'RUNNING' | 'STOPPED';
  desired: 'RUNNING' | 'STOPPED';
  address?: string;
  stoppedReason?: string;
  stoppedAt?: number;
};

export type Ecs = {
  readonly tasks: readonly Task[];
  /** The machine behind an address, if its server answers. */
  readonly reach: (address: string) => Machine | undefined;
  /** The task behind an address dies soon. */
  readonly fail: (address: string) => void;
  readonly hostFor: (invocation: Invocation) => SandboxHost;
};

const outOfMemory = 'OutOfMemoryError';
const interruption = 'Spot interruption';
/** Reasons of a task that nobody asked to stop. */
export const ownEnds: readonly string[] = [outOfMemory, interruption];

export type EcsOptions = {
  readonly sim: Simulation;
  readonly ledger: Ledger;
  readonly onBegin: MachineOptions['onBegin'];
  /** A task is asked to stop. */
  readonly onStop: (taskArn: string, reason: string) => void;
  /** An event reaches the platform. */
  readonly onEvent: (event: TaskEvent) => void;
};

const rememberedMs = 3_600_000;
const unlistedMs = 5000;
const lateEventMsMax = 120_000;

export const openEcs = ({ sim, ledger, onBegin, onStop, onEvent }: EcsOptions): Ecs => {
  const tasks: Task[] = [];
  const byToken = new Map<string, Task>();
  const { random } = sim;

  const tell = (task: Task): void => {
    const { taskArn, group, status, desired, address, stoppedReason } = task;
    const event: TaskEvent = {
      taskArn,
      group,
      lastStatus: status,
      desiredStatus: desired,
      ...(address === undefined ? {} : { address }),
      ...(stoppedReason === undefined ? {} : { stoppedReason }),
    };
    if (sim.fires('eventLost')) {
      sim.note('ecs', `loses ${status}/${desired} of ${taskArn}`);
      return;
    }
    const times = sim.fires('eventTwice') ? 2 : 1;
    for (let time = 0; time < times; time += 1) {
      const isLate = sim.fires('eventLate');
      sim.after(isLate ? random.spread(1000, lateEventMsMax) : random.int(20, 500), () => onEvent(event));
    }
  };

  const end = (task: Task, reason: string): void => {
    if (task.status === 'STOPPED') return;
    task.status = 'STOPPED';
    task.desired = 'STOPPED';
    task.stoppedReason ??= reason;
    task.stoppedAt = sim.now();
    task.machine.die();
    sim.note('ecs', `${task.taskArn} stopped: ${reason}`);
    tell(task);
  };

  const askToStop = (task: Task, reason: string): void => {
    if (task.desired === 'STOPPED') return;
    task.desired = 'STOPPED';
    task.stoppedReason = reason;
    tell(task);
    sim.after(random.spread(100, 30_000), () => end(task, reason));
  };

  const freeAddress = (): string => {
    const used = new Set(tasks.filter(({ status }) => status === 'RUNNING').map(({ address }) => address));
    let host = random.int(1, 3);
    while (used.has(`http://10.0.0.${host}:8080`)) host += 1;
    return `http://10.0.0.${host}:8080`;
  };

  const boot = (task: Task): void => {
    const isStopped = task.desired === 'STOPPED';
    if (isStopped || sim.fires('startFails')) {
      end(task, isStopped ? 'it was stopped before it ran' : 'CannotPullContainerError');
      return;
    }
    task.status = 'RUNNING';
    task.address = freeAddress();
    tell(task);
    sim.after(random.int(50, 2500), () => {
      task.machine.isUp = task.status === 'RUNNING';
    });
    if (sim.fires('taskDies')) sim.after(random.spread(500, 300_000), () => end(task, outOfMemory));
    if (sim.fires('taskEvicted')) sim.after(random.spread(500, 300_000), () => askToStop(task, interruption));
  };

  const start = (options: StartTask): string => {
    const known = byToken.get(options.token);
    if (known !== undefined) return known.taskArn;
    if (sim.fires('noCapacity')) throw unavailable('there is no capacity');
    if (sim.fires('startFails', 1 / 4)) throw new AppError('sandbox_start_failed', 'refused');
    const taskArn = `task-${tasks.length + 1}`;
    const machine = new Machine({ sim, ledger, taskArn, bearer: options.bearerHash, onBegin });
    const { group } = options;
    const task: Task = {
      taskArn,
      group,
      createdAt: sim.now(),
      machine,
      status: 'PROVISIONING',
      desired: 'RUNNING',
    };
    if (decodeTaskGroup(group) === undefined) sim.violate('a task is named after its workspace', group);
    tasks.push(task);
    byToken.set(options.token, task);
    sim.after(random.chance(0.2) ? random.spread(2000, 60_000) : random.int(300, 4000), () => boot(task));
    return taskArn;
  };

  const hostTask = ({ taskArn, group, status, address, createdAt, stoppedReason }: Task): HostTask => ({
    taskArn,
    group,
    lastStatus: status,
    createdAt,
    ...(address === undefined || status !== 'RUNNING' ? {} : { address }),
    ...(stoppedReason === undefined ? {} : { stoppedReason }),
  });

  const isForgotten = ({ stoppedAt = sim.now() }: Task): boolean => sim.now() - stoppedAt >= rememberedMs;

  const isListed = ({ status, desired, createdAt }: Task): boolean =>
    status !== 'STOPPED' && desired === 'RUNNING' && sim.now() - createdAt > unlistedMs;

  return {
    tasks,
    reach: (address) =>
      tasks.find((task) => task.address === address && task.status === 'RUNNING' && task.machine.isUp)
        ?.machine,
    fail: (address) => {
      const task = tasks.find((one) => one.address === address && one.status === 'RUNNING');
      if (task !== undefined) sim.after(sim.further.spread(1, 2000), () => end(task, outOfMemory));
    },
    hostFor: (invocation) => ({
      start: (options) =>
        invocation.call(`RunTask ${options.token}`, () => start(options), {
          isWrite: true,
          fault: unavailable,
        }),
      stop: (taskArn, reason) =>
        invocation.call(
          `StopTask ${taskArn}`,
          () => {
            onStop(taskArn, reason);
            const task = tasks.find((one) => one.taskArn === taskArn);
            if (task === undefined || isForgotten(task)) return undefined;
            askToStop(task, reason);
            return hostTask(task);
          },
          { isWrite: true, fault: unavailable },
        ),
      running: async function* () {
        const listed = await invocation.call('ListTasks', () => tasks.filter(isListed).map(hostTask));
        if (listed.length > 0) yield listed;
      },
      describe: (taskArns) =>
        invocation.call('DescribeTasks', () =>
          tasks
            .filter(({ taskArn }) => taskArns.includes(taskArn))
            .filter((task) => !isForgotten(task))
            .map(hostTask),
        ),
    }),
  };
};

const unavailable = (what: string): AppError => new AppError('sandbox_unavailable', what);
