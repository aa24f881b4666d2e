/**
 * Usage measurements of a function: collected while it runs, and written at the end of an invocation, at most once in ten
 * seconds. A timer writes the rest; it stands still while the function is frozen.
 *
 * They are for display only. A function that cannot write them logs that and continues, and a function that is removed may lose
 * the last of them.
 */
import { measurementOfEvent, noteOfCount, type UsageMeasurement } from '#shared/domain/usage-metrics.ts';
import type { MetricsStore, Telemetry } from '#shared/ports/telemetry.ts';

export type UsageRecorder = {
  /** A telemetry that records measurements and passes everything on. */
  readonly listening: (telemetry: Telemetry) => Telemetry;
  /** Stores them there from now on; before, they are dropped. */
  readonly keepIn: (store: Pick<MetricsStore, 'add'>) => void;
  readonly flush: () => Promise<void>;
};

const writeEveryMs = 10_000;

type Clock = { readonly now: () => number; readonly after: (milliseconds: number, work: () => void) => void };

const systemClock: Clock = {
  now: Date.now,
  after: (milliseconds, work) => void setTimeout(work, milliseconds).unref(),
};

export const openUsageRecorder = ({ now, after }: Clock = systemClock): UsageRecorder => {
  let store: Pick<MetricsStore, 'add'> | undefined;
  let notes: UsageMeasurement[] = [];
  /** The time of the oldest of them: they count there, however late they are written. */
  let since = 0;
  let writtenAt = Number.NEGATIVE_INFINITY;
  let isTimed = false;
  let warn: Telemetry['warn'] = () => undefined;
  const note = (found: UsageMeasurement | undefined): void => {
    if (found === undefined) return;
    if (notes.length === 0) since = now();
    notes.push(found);
  };
  const write = async (): Promise<void> => {
    const gathered = notes;
    notes = [];
    if (store === undefined || gathered.length === 0) return;
    writtenAt = now();
    await store
      .add(gathered, since)
      .catch((error: unknown) => warn('usage metrics were not stored', { error }));
  };
  const writeLater = (): void => {
    if (isTimed) return;
    isTimed = true;
    after(writtenAt + writeEveryMs - now(), () => {
      isTimed = false;
      void write();
    });
  };
  return {
    listening: (telemetry) => {
      warn = telemetry.warn;
      const hearing =
        (say: Telemetry['info']): Telemetry['info'] =>
        (message, fields = {}) => {
          note(measurementOfEvent(fields));
          say(message, fields);
        };
      return {
        ...telemetry,
        info: hearing(telemetry.info),
        warn: hearing(telemetry.warn),
        error: hearing(telemetry.error),
        count: (metric, value = 1) => {
          note(noteOfCount(metric, value));
          telemetry.count(metric, value);
        },
      };
    },
    keepIn: (given) => {
      store = given;
    },
    flush: async () => {
      if (now() - writtenAt >= writeEveryMs) await write();
      else if (notes.length > 0) writeLater();
    },
  };
};
