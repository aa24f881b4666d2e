/**
 * Metrics of our own, as the functions emit them: one dimension, the deployment.
 *
 * Each name is one metric on the bill, whichever functions count it (`shared/domain/metrics.ts`). A duration's number
 * of values is the count of what took it.
 */
import { Duration } from 'aws-cdk-lib';
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';

const namespace = 'Sallyport';
const fiveMinutes = Duration.minutes(5);

export type OwnMetric = {
  readonly statistic?: string;
  readonly label?: string;
  readonly period?: Duration;
};

export type OwnMetrics = (metricName: string, shown?: OwnMetric) => Metric;

/** A sum over five minutes, unless something else is asked for. */
export const ownMetricsOf =
  (deployment: string): OwnMetrics =>
  (metricName, { statistic = Stats.SUM, label = metricName, period = fiveMinutes } = {}) =>
    new Metric({ namespace, metricName, dimensionsMap: { deployment }, statistic, label, period });
