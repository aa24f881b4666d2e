/**
 * Metrics of our own, as the functions emit them: one dimension, the function's name.
 *
 * A dashboard searches, and so shows whoever emits. An alarm can not search: it names all who count, and a
 * test holds that list against the code.
 */
import { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { FunctionName } from '#shared/config/environment.ts';

const namespace = 'Sallyport';
const fiveMinutes = Duration.minutes(5);

/** For an alarm: what these functions count together. */
export const counted = (
  metricName: string,
  services: readonly FunctionName[],
  period: Duration = fiveMinutes,
): IMetric => {
  const metrics = services.map(
    (service) => new Metric({ namespace, metricName, dimensionsMap: { service }, statistic: 'Sum', period }),
  );
  const [only] = metrics;
  if (metrics.length === 1 && only !== undefined) return only;
  return new MathExpression({
    expression: 'SUM(METRICS())',
    usingMetrics: Object.fromEntries(metrics.map((metric, index) => [`m${index}`, metric])),
    label: metricName,
    period,
  });
};

/** For a dashboard: whichever functions emit it, each a line of its own. */
export const searched = (metricName: string, statistic: string): MathExpression =>
  new MathExpression({
    expression: `SEARCH('{${namespace},service} MetricName="${metricName}"', '${statistic}', ${fiveMinutes.toSeconds()})`,
    label: `\${PROP('Dim.service')} ${statistic}`,
    period: fiveMinutes,
  });

/** For a dashboard: the sum over whichever functions count it. */
export const searchedSum = (metricName: string): MathExpression =>
  new MathExpression({
    expression: `SUM(SEARCH('{${namespace},service} MetricName="${metricName}"', 'Sum', ${fiveMinutes.toSeconds()}))`,
    label: metricName,
    period: fiveMinutes,
  });
