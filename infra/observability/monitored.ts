/** What an operator watches: the parts of a deployment that dashboard, alarms and saved queries are about. */

import { Duration } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import type { WebSocketApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';

export type WatchedFunction = {
  readonly name: string;
  readonly lambda: IFunction & { readonly logGroup: ILogGroup };
};

export type Watched = {
  readonly deployment: string;
  /** Where docs/runbook.md is read. */
  readonly runbookUrl: string;
  readonly functions: readonly WatchedFunction[];
  readonly table: ITableV2;
  readonly indexes: readonly string[];
  readonly sockets: WebSocketApi;
  readonly requests: RestApi;
  /** Invocations of the turn that failed for good. */
  readonly lostTurns: IQueue;
  /** Whatever else was never handled. */
  readonly lostEvents: IQueue;
};

/**
 * Metrics of our own, as the functions emit them: one dimension, the deployment.
 *
 * Each name is one metric on the bill, whichever functions count it (`shared/domain/metrics.ts`). A duration's number
 * of values is the count of what took it.
 */
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
