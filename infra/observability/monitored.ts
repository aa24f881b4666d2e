/** The monitored parts of a deployment, read by alarms, dashboard and saved queries, and the metrics that functions emit. */
import { Duration } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import type { WebSocketApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { type IMetric, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { IRule } from 'aws-cdk-lib/aws-events';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { DeadLetterQueues } from '../constructs/permission-catalog.ts';

export type MonitoredFunction = {
  readonly name: string;
  readonly lambda: IFunction & { readonly logGroup: ILogGroup };
};

export type Monitored = {
  readonly deployment: string;
  /** The address of docs/runbook.md. */
  readonly runbookUrl: string;
  readonly functions: readonly MonitoredFunction[];
  readonly table: ITableV2;
  readonly indexes: readonly string[];
  readonly socketApi: WebSocketApi;
  readonly restApi: RestApi;
  readonly deadLetterQueues: DeadLetterQueues;
  /** The rule that has the audit log sealed. */
  readonly sealSweep: IRule;
  /** The synthetic check is deployed. */
  readonly isChecked: boolean;
};

/** Functions without a dead-letter queue for their asynchronous invocations (`infra/constructs/platform-function.ts`). */
export const servingMoments: ReadonlySet<string> = new Set(['on-connected', 'relay', 'terminal']);

/** Invocations that never ran. Only AWS sees one: no line and no metric of the platform tells of it. */
export const droppedInvocations = ({
  functions,
}: Pick<Monitored, 'functions'>): Readonly<Record<string, IMetric>> =>
  Object.fromEntries(
    functions
      .filter(({ name }) => servingMoments.has(name))
      .map(({ name, lambda }) => [
        name.replaceAll('-', ''),
        lambda.metric('AsyncEventsDropped', { statistic: Stats.SUM, period: fiveMinutes, label: name }),
      ]),
  );

/**
 * Metrics of our metric, as the functions emit them: one dimension, the deployment.
 *
 * Each name is one metric on the bill, whichever functions count it (`shared/domain/metrics.ts`). A duration's number
 * of values is the count of what took it.
 */
const namespace = 'Sallyport';
const fiveMinutes = Duration.minutes(5);

export type MetricOptions = {
  readonly statistic?: string;
  readonly label?: string;
  readonly period?: Duration;
};

export type PlatformMetrics = (metricName: string, shown?: MetricOptions) => Metric;

/** A sum over five minutes, unless the options name another statistic or period. */
export const platformMetricsOf =
  (deployment: string): PlatformMetrics =>
  (metricName, { statistic = Stats.SUM, label = metricName, period = fiveMinutes } = {}) =>
    new Metric({ namespace, metricName, dimensionsMap: { deployment }, statistic, label, period });

/**
 * Throttled reads or writes of the table and of each index. The table's own metric leaves those of its indexes out, and a write that
 * waits for an index counts as the index's
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html).
 */
export const tableThrottles = (
  { table, indexes }: Pick<Monitored, 'table' | 'indexes'>,
  metricName: 'ReadThrottleEvents' | 'WriteThrottleEvents',
  label: string,
): readonly Metric[] => [
  table.metric(metricName, { statistic: Stats.SUM, period: fiveMinutes, label }),
  ...indexes.map(
    (index) =>
      new Metric({
        namespace: 'AWS/DynamoDB',
        metricName,
        dimensionsMap: { TableName: table.tableName, GlobalSecondaryIndexName: index },
        statistic: Stats.SUM,
        label: `${label}, index ${index}`,
        period: fiveMinutes,
      }),
  ),
];
