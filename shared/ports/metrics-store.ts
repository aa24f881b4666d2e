/** The operator's usage metrics: counts by scope and time, incremented as things happen, removed by TTL. */
import type { MetricsScope, UsageCounts, UsageMeasurement } from '../domain/usage-metrics.ts';

export interface MetricsStore {
  /** Added for the deployment, and for the project each names. Costs one write per scope, however many measurements. */
  add(notes: readonly UsageMeasurement[], at: number): Promise<void>;
  /** Oldest first, from the point that holds `from` to the one that holds `to`. */
  read(
    scope: MetricsScope,
    range: { readonly from: number; readonly to: number },
  ): Promise<readonly UsageCounts[]>;
}
