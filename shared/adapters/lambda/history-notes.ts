/**
 * What an invocation noted for the operator's history: gathered while it runs, counted in one write at its end.
 *
 * The history is for looking at: an invocation that cannot write it says so and goes on.
 */
import { type HistoryNote, noteOfCount, noteOfEvent } from '#shared/domain/history-note.ts';
import type { HistoryStore } from '#shared/ports/history-store.ts';
import type { Telemetry } from '#shared/ports/telemetry.ts';

export type HistoryNotes = {
  /** Sees what telemetry is told, and passes it on. */
  readonly listening: (telemetry: Telemetry) => Telemetry;
  /** From now on they are kept there; before, they are dropped. */
  readonly keepIn: (store: Pick<HistoryStore, 'add'>) => void;
  readonly flush: () => Promise<void>;
};

export const openHistoryNotes = (now: () => number = Date.now): HistoryNotes => {
  let store: Pick<HistoryStore, 'add'> | undefined;
  let notes: HistoryNote[] = [];
  let warn: Telemetry['warn'] = () => undefined;
  const note = (found: HistoryNote | undefined): void => {
    if (found !== undefined) notes.push(found);
  };
  return {
    listening: (telemetry) => {
      warn = telemetry.warn;
      const hearing =
        (say: Telemetry['info']): Telemetry['info'] =>
        (message, fields = {}) => {
          note(noteOfEvent(fields));
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
