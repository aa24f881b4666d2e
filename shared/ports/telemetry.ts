/** Telemetry for operators: structured log lines and metrics. Never a secret, never user text. */
import type { MetricName } from '../domain/metrics.ts';

export type LogFields = Readonly<Record<string, unknown>>;

export interface Telemetry {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  count(metric: MetricName, value?: number): void;
  /** Milliseconds. */
  duration(metric: MetricName, milliseconds: number): void;
}
