/** Sections of the dashboard about the platform's upkeep, and about AWS's own metrics of its parts. */
import { Duration } from 'aws-cdk-lib';
import { type IMetric, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { Monitored, PlatformMetrics } from './monitored.ts';
import { mcpServers } from './queries.ts';
import { counts, graph, heading, logTable, type Row, times } from './widgets.ts';

const period = Duration.minutes(5);

export const upkeepRows = (monitored: Monitored, metric: PlatformMetrics): readonly Row[] => [
  heading(monitored, 'Locks, janitor, schedules, MCP servers', {
    says: 'Contention is normal: two invocations for one session. Lost leases are not. Five sweeps in five minutes are normal, orphans and corrections are not.',
    anchor: 'janitor-not-running',
  }),
  [
    counts(metric, 'Leases', 'LeasesContended', 'LeasesLost'),
    graph('Sweeps and what was due', [
      metric('SweepDue', { statistic: Stats.SAMPLE_COUNT, label: 'sweeps' }),
      metric('SweepDue', { label: 'due' }),
    ]),
    counts(metric, 'Corrected', 'OrphansStopped', 'SlotsCorrected'),
  ],
  [
    counts(metric, 'Scheduled runs', 'ScheduleRuns', 'ScheduleRunsFailed'),
    counts(metric, 'MCP servers', 'McpChecksFailed', 'McpServersLost'),
    counts(metric, 'Sockets found closed', 'SocketsGone'),
  ],
  [
    times(metric, 'Synthetic turn', 'SyntheticTurnMs'),
    times(metric, 'Synthetic turn with a sandbox', 'SyntheticSandboxMs'),
    counts(metric, 'Synthetic checks that failed', 'SyntheticChecksFailed'),
  ],
  [logTable(monitored, mcpServers, 24)],
];

export const awsRows = (monitored: Monitored): readonly Row[] => [
  heading(monitored, 'APIs, functions, table', {
    says: 'Metrics of AWS. Throttled writes of the table precede lost leases; errors of a function have a stack trace in its log.',
    anchor: 'function-errors',
  }),
  apiRow(monitored),
  functionRow(monitored),
  tableRow(monitored),
];

const apiRow = ({ socketApi, restApi, deadLetterQueues }: Monitored): Row => [
  graph(
    'WebSocket',
    ['ConnectCount', 'MessageCount', 'ClientError', 'IntegrationError', 'ExecutionError'].map((name) =>
      socketApi.metric(name, { statistic: Stats.SUM, period }),
    ),
  ),
  graph('REST and MCP', [
    restApi.metricCount({ period }),
    restApi.metricClientError({ period }),
    restApi.metricServerError({ period }),
  ]),
  graph('Dead letters', [
    deadLetterQueues.turns.metricApproximateNumberOfMessagesVisible({ period, statistic: Stats.MAXIMUM }),
    deadLetterQueues.events.metricApproximateNumberOfMessagesVisible({ period, statistic: Stats.MAXIMUM }),
  ]),
];

const functionRow = ({ functions }: Monitored): Row => [
  graph(
    'Function errors',
    functions.map(({ lambda, name }) => lambda.metricErrors({ period, label: name })),
  ),
  graph(
    'Function throttles',
    functions.map(({ lambda, name }) => lambda.metricThrottles({ period, label: name })),
  ),
  graph(
    'Function duration p99, ms',
    functions.map(({ lambda, name }) => lambda.metricDuration({ period, statistic: 'p99', label: name })),
  ),
];

const tableRow = (monitored: Monitored): Row => [
  graph('Table throttles', [
    ...throttles(monitored, 'ReadThrottleEvents', 'reads'),
    ...throttles(monitored, 'WriteThrottleEvents', 'writes'),
  ]),
  graph('Table units', [
    monitored.table.metricConsumedReadCapacityUnits({ period, label: 'read' }),
    monitored.table.metricConsumedWriteCapacityUnits({ period, label: 'written' }),
  ]),
];

/** An index throttles separately, and a write that waits for it counts as the index's. */
const throttles = ({ table, indexes }: Monitored, metricName: string, label: string): readonly IMetric[] => [
  table.metric(metricName, { statistic: Stats.SUM, period, label }),
  ...indexes.map(
    (index) =>
      new Metric({
        namespace: 'AWS/DynamoDB',
        metricName,
        dimensionsMap: { TableName: table.tableName, GlobalSecondaryIndexName: index },
        statistic: Stats.SUM,
        label: `${label}, index ${index}`,
        period,
      }),
  ),
];
