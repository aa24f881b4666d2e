/** The operator's usage metrics: counts by scope and time, incremented as things happen, removed by TTL. */
import type { MetricsScope, UsageMeasurement } from '../domain/usage-measurement.ts';
import type { UsageCounts } from '../domain/usage-point.ts';

export interface MetricsStore {
  /** Added for the deployment, and for the project each names. Costs one write per scope, however many measurements. */
  add(notes: readonly UsageMeasurement[], at: number): Promise<void>;
  /** Oldest first, from the point that holds `from` to the one that holds `to`. */
  read(
    scope: MetricsScope,
    range: { readonly from: number; readonly to: number },
  ): Promise<readonly UsageCounts[]>;
}
