/**
 * Usage measurements of an invocation: collected while it runs, written once at its end.
 *
 * They are for display only: an invocation that cannot write them logs that and goes on.
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

export const openUsageRecorder = (now: () => number = Date.now): UsageRecorder => {
  let store: Pick<MetricsStore, 'add'> | undefined;
  let notes: UsageMeasurement[] = [];
  let warn: Telemetry['warn'] = () => undefined;
  const note = (found: UsageMeasurement | undefined): void => {
    if (found !== undefined) notes.push(found);
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
      const gathered = notes;
      notes = [];
      if (store === undefined || gathered.length === 0) return;
      await store
        .add(gathered, now())
        .catch((error: unknown) => warn('usage metrics were not stored', { error }));
    },
  };
};
