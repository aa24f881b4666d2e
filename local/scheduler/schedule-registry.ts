/**
 * The schedules there are, and the clock that invokes their targets: each at its moment, or, when the machine was off
 * then, at the next start. A target that can not be invoked is tried again as its retry policy says; what is given up
 * is a line of the dead letters.
 *
 * A schedule that is made for a moment that has passed is taken and never invoked: what AWS does with one is
 * documented nowhere, so nothing may count on it.
 */
import type { ScheduleFiles, StoredSchedule } from './stored-schedule.ts';
import { scheduleKey } from './stored-schedule.ts';

export type ScheduleRegistry = {
  readonly now: () => number;
  readonly find: (name: Pick<StoredSchedule, 'GroupName' | 'Name'>) => StoredSchedule | undefined;
  readonly put: (schedule: StoredSchedule) => Promise<void>;
  readonly remove: (schedule: StoredSchedule) => Promise<void>;
  /** Begins to invoke. */
  readonly fire: () => void;
  readonly stop: () => void;
};

export type RegistryOptions = {
  readonly files: ScheduleFiles;
  /** Throws when it can not be delivered. */
  readonly invoke: (target: NonNullable<StoredSchedule['Target']>) => void;
  readonly giveUp: (schedule: StoredSchedule, problem: string) => Promise<void>;
  readonly now: () => number;
  readonly tickMs: number;
  readonly retryMs: number;
};

/** https://docs.aws.amazon.com/scheduler/latest/APIReference/API_RetryPolicy.html */
const defaultAgeSecondsMax = 86_400;
const defaultRetriesMax = 185;

type Delivery = { readonly failures: number; readonly notBefore: number };

export const openScheduleRegistry = ({ files, now, ...options }: RegistryOptions): ScheduleRegistry => {
  const schedules = new Map(files.kept.map((schedule) => [scheduleKey(schedule), schedule]));
  const deliveries = new Map<string, Delivery>();
  let timer: NodeJS.Timeout | undefined;
  const remove = async (schedule: StoredSchedule): Promise<void> => {
    schedules.delete(scheduleKey(schedule));
    deliveries.delete(scheduleKey(schedule));
    await files.remove(schedule);
  };
  const deliver = async (schedule: StoredSchedule): Promise<void> => {
    const key = scheduleKey(schedule);
    const { failures } = deliveries.get(key) ?? { failures: 0 };
    deliveries.set(key, { failures, notBefore: Number.POSITIVE_INFINITY });
    try {
      options.invoke(schedule.Target as NonNullable<StoredSchedule['Target']>);
    } catch (cause) {
      const problem = cause instanceof Error ? cause.message : String(cause);
      if (!isGivenUp(schedule, failures, now())) {
        deliveries.set(key, { failures: failures + 1, notBefore: now() + options.retryMs });
        return;
      }
      await options.giveUp(schedule, problem);
    }
    if (schedule.ActionAfterCompletion === 'DELETE') await remove(schedule);
  };
  const tick = (): void => {
    for (const schedule of schedules.values()) {
      const { notBefore = schedule.at } = deliveries.get(scheduleKey(schedule)) ?? {};
      const isEver = schedule.State !== 'DISABLED' && schedule.at >= schedule.createdAt;
      if (isEver && notBefore <= now()) void deliver(schedule);
    }
  };
  return {
    now,
    find: (name) => schedules.get(scheduleKey(name)),
    put: async (schedule) => {
      schedules.set(scheduleKey(schedule), schedule);
      deliveries.delete(scheduleKey(schedule));
      await files.write(schedule);
    },
    remove,
    fire: () => {
      tick();
      timer = setInterval(tick, options.tickMs);
    },
    stop: () => clearInterval(timer),
  };
};

const isGivenUp = ({ Target, at }: StoredSchedule, failures: number, now: number): boolean => {
  const {
    MaximumRetryAttempts: retriesMax = defaultRetriesMax,
    MaximumEventAgeInSeconds: ageMax = defaultAgeSecondsMax,
  } = Target?.RetryPolicy ?? {};
  return failures >= retriesMax || now - at > ageMax * 1000;
};
