/** The dashboard: whether anything is wrong, then turns, sandboxes, workspaces, sessions, doors and functions. */
import { Duration } from 'aws-cdk-lib';
import {
  type Alarm,
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IMetric,
} from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { ComputeStack } from '../stacks/compute-stack.ts';
import type { EdgeStack } from '../stacks/edge-stack.ts';
import { searched, searchedSum } from './own-metrics.ts';

export type OverviewProps = {
  readonly compute: ComputeStack;
  readonly edge: EdgeStack;
  readonly alarms: Alarm[];
};

const columns = 24;
const period = Duration.minutes(5);

export class Overview extends Construct {
  constructor(scope: Construct, id: string, { compute, edge, alarms }: OverviewProps) {
    super(scope, id);
    const dashboard = new Dashboard(this, 'Dashboard', { defaultInterval: Duration.hours(3) });
    dashboard.addWidgets(new AlarmStatusWidget({ title: 'Alarms', alarms, width: columns }));
    for (const row of [...ownRows(), doorRow(compute, edge), functionRow(compute)])
      dashboard.addWidgets(...row);
  }
}

type Row = readonly GraphWidget[];

/** What the platform says of itself: every metric of ours. */
const ownRows = (): readonly Row[] => [
  [
    counts('Turns', 'TurnsStarted', 'TurnsCompleted', 'TurnsFailed'),
    times('Turn, ms', 'TurnDurationMs'),
    counts('Tool calls', 'ToolCalls', 'ToolCallsFailed'),
  ],
  [
    counts('Sandbox starts', 'SandboxStartsCold', 'SandboxStartsWarm', 'SandboxStartsFailed'),
    times('Sandbox start, ms', 'SandboxStartMs'),
    counts('Sandboxes gone', 'SandboxesStopped', 'SandboxesLost', 'SandboxesRested', 'SandboxStopsFailed'),
  ],
  [
    times('Workspace save, ms', 'WorkspaceSaveMs'),
    times('Workspace restore, ms', 'WorkspaceRestoreMs'),
    counts('Workspaces not whole', 'WorkspaceSavesFailed', 'WorkspaceRestoresIncomplete'),
  ],
  [
    counts('Sessions', 'SessionsReaped', 'SessionsEvicted'),
    counts('Put right', 'OrphansStopped', 'PlacesCorrected'),
    graph('Warm pool, ready', [searched('PoolReady', 'Minimum'), searched('PoolReady', 'Average')]),
  ],
  [
    counts('Leases', 'LeasesLost', 'LeasesContended'),
    counts('Sweep', 'SweepsDone', 'SweepDue'),
    counts('Sockets and MCP servers gone', 'SocketsGone', 'McpChecksFailed', 'McpServersLost'),
  ],
  [counts('Scheduled runs', 'ScheduleRuns', 'ScheduleRunsFailed')],
];

const doorRow = ({ socket, lostTurns, lostEvents }: ComputeStack, { door }: EdgeStack): Row => [
  graph(
    'WebSocket',
    ['ConnectCount', 'MessageCount', 'ClientError', 'IntegrationError', 'ExecutionError'].map((name) =>
      socket.api.metric(name, { statistic: 'Sum', period }),
    ),
  ),
  graph('REST and MCP', [
    door.api.metricCount({ period }),
    door.api.metricClientError({ period }),
    door.api.metricServerError({ period }),
  ]),
  graph('Lost', [
    lostTurns.metricApproximateNumberOfMessagesVisible({ period }),
    lostEvents.metricApproximateNumberOfMessagesVisible({ period }),
  ]),
];

const functionRow = ({ functions: { all } }: ComputeStack): Row => [
  graph(
    'Function errors',
    all.map(({ lambda }) => lambda.metricErrors({ period })),
  ),
  graph(
    'Throttles',
    all.map(({ lambda }) => lambda.metricThrottles({ period })),
  ),
  graph(
    'Duration p99, ms',
    all.map(({ lambda }) => lambda.metricDuration({ period, statistic: 'p99' })),
  ),
];

const counts = (title: string, ...names: readonly string[]): GraphWidget =>
  graph(title, names.map(searchedSum));

const times = (title: string, name: string): GraphWidget =>
  graph(
    title,
    ['p50', 'p95', 'p99'].map((statistic) => searched(name, statistic)),
  );

const graph = (title: string, left: IMetric[]): GraphWidget =>
  new GraphWidget({ title, left, width: columns / 3 });
