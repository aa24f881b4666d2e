/**
 * What an invocation noted for the operator's history: gathered while it runs, counted in one write at its end.
 *
 * The history is for looking at: an invocation that cannot write it says so and goes on.
 */
import { measurementOfEvent, noteOfCount, type UsageMeasurement } from '#shared/domain/usage-measurement.ts';
import type { MetricsStore } from '#shared/ports/metrics-store.ts';
import type { Telemetry } from '#shared/ports/telemetry.ts';

export type UsageRecorder = {
  /** Sees what telemetry is told, and passes it on. */
  readonly listening: (telemetry: Telemetry) => Telemetry;
  /** From now on they are kept there; before, they are dropped. */
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
      await store.add(gathered, now()).catch((error: unknown) => warn('the history was not kept', { error }));
    },
  };
};
