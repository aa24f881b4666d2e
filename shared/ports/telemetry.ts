/** Telemetry for operators: structured log lines and metrics. Never a secret, never user text. */
import type { MetricName } from '../domain/metrics.ts';
import type { MetricsScope, UsageCounts, UsageMeasurement } from '../domain/usage-metrics.ts';

export type LogFields = Readonly<Record<string, unknown>>;

export interface Telemetry {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  count(metric: MetricName, value?: number): void;
  /** Milliseconds. */
  duration(metric: MetricName, milliseconds: number): void;
}

/**
 * The correlation id: one message, request or other piece of work keeps it through every function. Bound to an
 * invocation where its ports are made; whatever leaves the invocation takes the id from here.
 */
export interface Correlation {
  /** The id of the work that the invocation does now; its own id, while it does no other's. */
  id(): string;
  /** From now on the invocation works for this id. */
  follow(id: string): void;
}

/** The operator's usage metrics: counts by scope and time, incremented as things happen, removed by TTL. */
export interface MetricsStore {
  /** Added for the deployment, and for the project each names. Costs one write per scope, however many measurements. */
  add(notes: readonly UsageMeasurement[], at: number): Promise<void>;
  /** Oldest first, from the point that holds `from` to the one that holds `to`. */
  read(
    scope: MetricsScope,
    range: { readonly from: number; readonly to: number },
  ): Promise<readonly UsageCounts[]>;
}
