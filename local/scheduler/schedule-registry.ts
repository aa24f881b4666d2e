/**
 * The stored schedules, and the clock that invokes their targets: each at its time, or at the next start if the machine
 * was off. A target that cannot be invoked is retried as its retry policy says; after that it becomes a dead letter.
 *
 * A schedule for a time that has passed is accepted and never invoked: AWS documents no behaviour, so no caller may
 * rely on one.
 */
import type { CreateScheduleCommandInput } from '@aws-sdk/client-scheduler';
import { holdRecords, type RecordFiles } from '../endpoint/record-files.ts';

/** The request's JSON, as the SDK wrote it, with the fields of the endpoint. */
export type StoredSchedule = Omit<CreateScheduleCommandInput, 'StartDate' | 'EndDate' | 'ClientToken'> & {
  readonly Name: string;
  readonly GroupName: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly createdAt: number;
  /** The client token of the request that created it: a retry gets the first answer. */
  readonly token?: string | undefined;
};

export type ScheduleRegistry = {
  readonly now: () => number;
  readonly find: (name: Pick<StoredSchedule, 'GroupName' | 'Name'>) => StoredSchedule | undefined;
  readonly put: (schedule: StoredSchedule) => Promise<void>;
  readonly remove: (schedule: StoredSchedule) => Promise<void>;
  /** Begins to invoke. */
  readonly fire: () => void;
  readonly stop: () => void;
};

type RegistryOptions = {
  readonly files: RecordFiles<StoredSchedule>;
  /** Throws when it cannot be delivered. */
  readonly invoke: (target: NonNullable<StoredSchedule['Target']>) => void;
  readonly deadLetter: (schedule: StoredSchedule, problem: string) => Promise<void>;
  readonly now: () => number;
  readonly tickMs: number;
  readonly retryMs: number;
};

/** https://docs.aws.amazon.com/scheduler/latest/APIReference/API_RetryPolicy.html */
const defaultAgeSecondsMax = 86_400;
const defaultRetriesMax = 185;

const scheduleKey = ({ GroupName, Name }: Pick<StoredSchedule, 'GroupName' | 'Name'>): string =>
  `${GroupName}/${Name}`;

export const openScheduleRegistry = ({ files, now, ...options }: RegistryOptions): ScheduleRegistry => {
  const schedules = holdRecords(files, scheduleKey);
  const deliveries = new Map<string, { readonly failures: number; readonly notBefore: number }>();
  let timer: NodeJS.Timeout | undefined;
  const remove = async (schedule: StoredSchedule): Promise<void> => {
    await schedules.remove(scheduleKey(schedule));
    deliveries.delete(scheduleKey(schedule));
  };
  const deliver = async (schedule: StoredSchedule): Promise<void> => {
    const key = scheduleKey(schedule);
    const { failures } = deliveries.get(key) ?? { failures: 0 };
    deliveries.set(key, { failures, notBefore: Number.POSITIVE_INFINITY });
    try {
      options.invoke(schedule.Target as NonNullable<StoredSchedule['Target']>);
    } catch (cause) {
      const problem = cause instanceof Error ? cause.message : String(cause);
      if (!isExhausted(schedule, failures, now())) {
        deliveries.set(key, { failures: failures + 1, notBefore: now() + options.retryMs });
        return;
      }
      await options.deadLetter(schedule, problem);
    }
    if (schedule.ActionAfterCompletion === 'DELETE') await remove(schedule);
  };
  /** The disk may be full: that ends no other function, and is tried again. */
  const postpone = (schedule: StoredSchedule, cause: unknown): void => {
    process.stderr.write(`scheduler: ${schedule.Name} could not be settled: ${cause}\n`);
    const { failures } = deliveries.get(scheduleKey(schedule)) ?? { failures: 0 };
    deliveries.set(scheduleKey(schedule), { failures, notBefore: now() + options.retryMs });
  };
  const tick = (): void => {
    for (const schedule of schedules.all()) {
      const { notBefore = schedule.at } = deliveries.get(scheduleKey(schedule)) ?? {};
      const isActive = schedule.State !== 'DISABLED' && schedule.at >= schedule.createdAt;
      if (isActive && notBefore <= now()) deliver(schedule).catch((cause) => postpone(schedule, cause));
    }
  };
  return {
    now,
    find: (name) => schedules.find(scheduleKey(name)),
    put: async (schedule) => {
      deliveries.delete(scheduleKey(schedule));
      await schedules.put(schedule);
    },
    remove,
    fire: () => {
      tick();
      timer = setInterval(tick, options.tickMs);
    },
    stop: () => clearInterval(timer),
  };
};

const isExhausted = ({ Target, at }: StoredSchedule, failures: number, now: number): boolean => {
  const {
    MaximumRetryAttempts: retriesMax = defaultRetriesMax,
    MaximumEventAgeInSeconds: ageMax = defaultAgeSecondsMax,
  } = Target?.RetryPolicy ?? {};
  return failures >= retriesMax || now - at > ageMax * 1000;
};
