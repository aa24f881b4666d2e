/** The history behind the operator's view: counts by scope and time, added up as things happen, gone by themselves. */
import type { HistoryNote, HistoryScope } from '../domain/history-note.ts';
import type { HistoryCounts } from '../domain/history-point.ts';

export interface HistoryStore {
  /** Counted for the deployment, and for the project each names. Costs one write per scope, however many notes. */
  add(notes: readonly HistoryNote[], at: number): Promise<void>;
  /** Oldest first, from the point that holds `from` to the one that holds `to`. */
  read(
    scope: HistoryScope,
    range: { readonly from: number; readonly to: number },
  ): Promise<readonly HistoryCounts[]>;
}
