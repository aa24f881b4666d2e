/** Sections of the dashboard: user-visible work, the platform's upkeep, and AWS's own metrics of its parts. */

import { Duration } from 'aws-cdk-lib';
import { MathExpression, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { figures } from '#shared/config/figures.ts';
import { droppedInvocations, type Monitored, type PlatformMetrics, tableThrottles } from './monitored.ts';
import {
  approvalsWaiting,
  costBySession,
  errorsByCode,
  mcpServers,
  sandboxFailures,
  slicesUsedUp,
  slowTurns,
} from './queries.ts';
import { besideTarget, counts, graph, heading, logTable, type Row, times } from './widgets.ts';

export const turnRows = (monitored: Monitored, metric: PlatformMetrics): readonly Row[] => [
  heading(monitored, 'Turns', {
    says: 'A turn is one message and its answer. Turns that start and do not end point to functions or leases; for failed ones see the codes below.',
    anchor: 'turn-errors',
  }),
  [
    counts(metric, 'Turns', 'TurnsStarted', 'TurnsFailed'),
    times(metric, 'Turn, from message to completion', 'TurnDurationMs'),
    times(metric, 'Time to first output', 'FirstDeltaMs'),
  ],
  [
    times(metric, 'Tool calls', 'ToolCallMs'),
    counts(metric, 'Tool calls that failed', 'ToolCallsFailed'),
    graph('Cost of the sessions that ended, USD', [
      metric('SessionCostUsd', { statistic: 'p50', label: 'p50' }),
      metric('SessionCostUsd', { statistic: 'p95', label: 'p95' }),
      metric('SessionCostUsd', { statistic: 'Maximum', label: 'highest' }),
    ]),
  ],
  [logTable(monitored, errorsByCode), logTable(monitored, slowTurns)],
];

/** The operator's figures (`npm run operator`), with each target as a line. */
export const figureRows = (monitored: Monitored, metric: PlatformMetrics): readonly Row[] => [
  heading(monitored, 'Figures beside their targets', {
    says: 'The percentile of a target is the one that must stay below its line. `npm run operator` prints them beside the last release. Turns and sandboxes of the synthetic check are among the values.',
    anchor: 'figures-that-miss-their-target',
  }),
  ...[figures.slice(0, 3), figures.slice(3)].map((some) =>
    some.map((figure) => besideTarget(metric, figure)),
  ),
];

export const approvalRows = (monitored: Monitored, metric: PlatformMetrics): readonly Row[] => [
  heading(monitored, 'Approvals', {
    says: 'A call that waits for a person costs nothing once its sandbox has stopped, after two minutes by default. The table lists waiting calls of the range shown, oldest first.',
    anchor: 'pending-approvals',
  }),
  [
    graph('Requested and not decided, since the start of the range', [
      new MathExpression({
        expression: 'RUNNING_SUM(FILL(asked, 0)) - RUNNING_SUM(FILL(decided, 0))',
        usingMetrics: {
          asked: metric('ApprovalsAsked'),
          decided: metric('ApprovalWaitMs', { statistic: 'SampleCount' }),
        },
        label: 'requested less decided',
      }),
      metric('ApprovalsAsked'),
    ]),
    times(metric, 'Waiting time of decided calls', 'ApprovalWaitMs'),
  ],
  [logTable(monitored, approvalsWaiting), logTable(monitored, costBySession)],
];

export const sandboxRows = (monitored: Monitored, metric: PlatformMetrics): readonly Row[] => [
  heading(monitored, 'Sandboxes and their workspaces', {
    says: 'Tens of seconds are usual for a cold start. A lost sandbox loses its unsaved files.',
    anchor: 'sandbox-starts-failed',
  }),
  [
    graph('Running, by ECS', [
      metric('SandboxesRunning', { statistic: 'Maximum', label: 'sandboxes' }),
      metric('PoolReady', { statistic: 'Minimum', label: 'warm and free, at least' }),
    ]),
    times(metric, 'Cold starts', 'SandboxColdStartMs'),
    times(metric, 'Warm starts', 'SandboxWarmStartMs'),
  ],
  [
    counts(metric, 'Sandboxes that failed', 'SandboxStartsFailed', 'SandboxesLost', 'SandboxStopsFailed'),
    times(metric, 'Workspace saves', 'WorkspaceSaveMs'),
    times(metric, 'Workspace restores', 'WorkspaceRestoreMs'),
  ],
  [
    counts(metric, 'Incomplete workspaces', 'WorkspaceSavesFailed', 'WorkspaceRestoresIncomplete'),
    counts(metric, 'Ended, paused and evicted', 'SessionsReaped', 'SessionsPaused', 'SandboxesEvicted'),
  ],
  [logTable(monitored, sandboxFailures, 24)],
  heading(monitored, 'Slices that are used up', {
    says: 'A slice bounds what a session and all below it may use, so a session that used up its slice is no fault. If there are many at once, the slices are too small, or their work runs away.',
    anchor: 'slices-used-up',
  }),
  [logTable(monitored, slicesUsedUp, 24)],
];

export const webhookRows = (monitored: Monitored, metric: PlatformMetrics): readonly Row[] => [
  heading(monitored, 'Webhooks', {
    says: 'Attempts fail while a receiver is down, and are retried. A webhook is disabled when nothing was accepted for a day.',
    anchor: 'webhooks-disabled',
  }),
  [
    times(metric, 'Attempts of webhooks', 'WebhookAttemptMs'),
    counts(metric, 'Webhooks that fail', 'WebhookAttemptsFailed', 'WebhooksDisabled'),
  ],
];

const period = Duration.minutes(5);

/** AWS's own metrics of the function that holds them, and of what never ran of it and of others that serve a moment. */
export const relayRows = (monitored: Monitored): readonly Row[] => {
  const relays = monitored.functions.filter(({ name }) => name === 'relay').map(({ lambda }) => lambda);
  return [
    heading(monitored, 'Relays', {
      says: 'A relay is held while a sandbox with a network is used; one that is held for days is a program that never rests. A dropped invocation is a sandbox whose programs reached nothing, a terminal that showed nothing, or a connection without a greeting.',
      anchor: 'dropped-invocations',
    }),
    [
      graph(
        'Relays that are held',
        relays.map((lambda) =>
          lambda.metric('ConcurrentExecutions', { statistic: Stats.MAXIMUM, period, label: 'held at once' }),
        ),
      ),
      graph('Invocations that never ran', Object.values(droppedInvocations(monitored))),
    ],
  ];
};

export const upkeepRows = (monitored: Monitored, metric: PlatformMetrics): readonly Row[] => [
  heading(monitored, 'Locks, janitor, schedules, MCP servers', {
    says: 'Contention is normal: two invocations for one session. Lost leases are not. Five sweeps in five minutes are normal, and an orphan or a correction now and then; three in half an hour are not.',
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
    counts(metric, 'Sockets found closed, failed sign-ins', 'SocketsGone', 'SignInsFailed'),
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
    ...tableThrottles(monitored, 'ReadThrottleEvents', 'reads'),
    ...tableThrottles(monitored, 'WriteThrottleEvents', 'writes'),
  ]),
  graph('Table units', [
    monitored.table.metricConsumedReadCapacityUnits({ period, label: 'read' }),
    monitored.table.metricConsumedWriteCapacityUnits({ period, label: 'written' }),
  ]),
];
