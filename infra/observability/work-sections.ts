/** Sections of the dashboard about user-visible work: turns, approvals, cost, sandboxes, workspaces, webhooks. */
import { MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import type { Monitored, PlatformMetrics } from './monitored.ts';
import { approvalsWaiting, costBySession, errorsByCode, sandboxFailures, slowTurns } from './queries.ts';
import { counts, graph, heading, logTable, type Row, times } from './widgets.ts';

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
    graph('Cost of the sessions whose turns ended, USD', [
      metric('SessionCostUsd', { statistic: 'p50', label: 'p50' }),
      metric('SessionCostUsd', { statistic: 'p95', label: 'p95' }),
      metric('SessionCostUsd', { statistic: 'Maximum', label: 'highest' }),
    ]),
  ],
  [logTable(monitored, errorsByCode), logTable(monitored, slowTurns)],
];

export const approvalRows = (monitored: Monitored, metric: PlatformMetrics): readonly Row[] => [
  heading(monitored, 'Approvals', {
    says: 'A call that waits for a person costs nothing but its sandbox, until that is idle. The table lists waiting calls of the range shown, oldest first.',
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
    counts(metric, 'Sessions ended by the platform', 'SessionsReaped', 'SessionsEvicted'),
  ],
  [logTable(monitored, sandboxFailures, 24)],
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
