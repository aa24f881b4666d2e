/** What the platform does to stay whole, and what AWS says of its parts, as sections of the dashboard. */
import { Duration } from 'aws-cdk-lib';
import { type IMetric, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { OwnMetrics, Watched } from './monitored.ts';
import { mcpServers } from './queries.ts';
import { counts, graph, heading, logTable, type Row, times } from './widgets.ts';

const period = Duration.minutes(5);

export const upkeepRows = (watched: Watched, own: OwnMetrics): readonly Row[] => [
  heading(watched, 'Locks, janitor, schedules, MCP servers', {
    says: 'Contention is usual: two wake-ups of one session. Lost leases are not. Five sweeps in five minutes are usual, orphans and corrections are not.',
    anchor: 'janitor-not-running',
  }),
  [
    counts(own, 'Leases', 'LeasesContended', 'LeasesLost'),
    graph('Sweeps and what was due', [
      own('SweepDue', { statistic: Stats.SAMPLE_COUNT, label: 'sweeps' }),
      own('SweepDue', { label: 'due' }),
    ]),
    counts(own, 'Put right', 'OrphansStopped', 'SlotsCorrected'),
  ],
  [
    counts(own, 'Scheduled runs', 'ScheduleRuns', 'ScheduleRunsFailed'),
    counts(own, 'MCP servers', 'McpChecksFailed', 'McpServersLost'),
    counts(own, 'Sockets found gone', 'SocketsGone'),
  ],
  [
    times(own, 'Synthetic turn', 'SyntheticTurnMs'),
    times(own, 'Synthetic turn with a sandbox', 'SyntheticSandboxMs'),
    counts(own, 'Synthetic checks that failed', 'SyntheticChecksFailed'),
  ],
  [logTable(watched, mcpServers, 24)],
];

export const awsRows = (watched: Watched): readonly Row[] => [
  heading(watched, 'Doors, functions, table', {
    says: 'What AWS counts. Throttled writes of the table come before lost leases; errors of a function have a stack in its log.',
    anchor: 'function-errors',
  }),
  doorRow(watched),
  functionRow(watched),
  tableRow(watched),
];

const doorRow = ({ sockets, requests, lostTurns, lostEvents }: Watched): Row => [
  graph(
    'WebSocket',
    ['ConnectCount', 'MessageCount', 'ClientError', 'IntegrationError', 'ExecutionError'].map((name) =>
      sockets.metric(name, { statistic: Stats.SUM, period }),
    ),
  ),
  graph('REST and MCP', [
    requests.metricCount({ period }),
    requests.metricClientError({ period }),
    requests.metricServerError({ period }),
  ]),
  graph('Lost', [
    lostTurns.metricApproximateNumberOfMessagesVisible({ period, statistic: Stats.MAXIMUM }),
    lostEvents.metricApproximateNumberOfMessagesVisible({ period, statistic: Stats.MAXIMUM }),
  ]),
];

const functionRow = ({ functions }: Watched): Row => [
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

const tableRow = (watched: Watched): Row => [
  graph('Table throttles', [
    ...throttles(watched, 'ReadThrottleEvents', 'reads'),
    ...throttles(watched, 'WriteThrottleEvents', 'writes'),
  ]),
  graph('Table units', [
    watched.table.metricConsumedReadCapacityUnits({ period, label: 'read' }),
    watched.table.metricConsumedWriteCapacityUnits({ period, label: 'written' }),
  ]),
];

/** An index throttles by itself, and a write that waits for it counts as the index's. */
const throttles = ({ table, indexes }: Watched, metricName: string, label: string): readonly IMetric[] => [
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
