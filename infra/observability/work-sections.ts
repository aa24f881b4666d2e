/** The dashboard's sections of user-visible work: turns, approvals, money, sandboxes, workspaces, webhooks. */
import { MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import type { OwnMetrics, Watched } from './monitored.ts';
import { approvalsWaiting, costBySession, errorsByCode, sandboxFailures, slowTurns } from './queries.ts';
import { counts, graph, heading, logTable, type Row, times } from './widgets.ts';

export const turnRows = (watched: Watched, own: OwnMetrics): readonly Row[] => [
  heading(watched, 'Turns', {
    says: 'A turn is one message and its answer. Started but not ended for minutes: functions or leases. Failed: the codes below.',
    anchor: 'turn-errors',
  }),
  [
    counts(own, 'Turns', 'TurnsStarted', 'TurnsFailed'),
    times(own, 'Turn, from message to completion', 'TurnDurationMs'),
    times(own, 'First words of an answer', 'FirstDeltaMs'),
  ],
  [
    times(own, 'Tool calls', 'ToolCallMs'),
    counts(own, 'Tool calls that failed', 'ToolCallsFailed'),
    graph('Cost of the sessions whose turns ended, USD', [
      own('SessionCostUsd', { statistic: 'p50', label: 'p50' }),
      own('SessionCostUsd', { statistic: 'p95', label: 'p95' }),
      own('SessionCostUsd', { statistic: 'Maximum', label: 'dearest' }),
    ]),
  ],
  [logTable(watched, errorsByCode), logTable(watched, slowTurns)],
];

export const approvalRows = (watched: Watched, own: OwnMetrics): readonly Row[] => [
  heading(watched, 'Approvals', {
    says: 'People decide: a call that waits costs nothing but its sandbox, until that is idle. The table has those that wait in the range shown, oldest first.',
    anchor: 'approvals-that-wait',
  }),
  [
    graph('Asked and not answered, since the start of the range', [
      new MathExpression({
        expression: 'RUNNING_SUM(FILL(asked, 0)) - RUNNING_SUM(FILL(decided, 0))',
        usingMetrics: {
          asked: own('ApprovalsAsked'),
          decided: own('ApprovalWaitMs', { statistic: 'SampleCount' }),
        },
        label: 'asked less decided',
      }),
      own('ApprovalsAsked'),
    ]),
    times(own, 'How long decided calls had waited', 'ApprovalWaitMs'),
  ],
  [logTable(watched, approvalsWaiting), logTable(watched, costBySession)],
];

export const sandboxRows = (watched: Watched, own: OwnMetrics): readonly Row[] => [
  heading(watched, 'Sandboxes and their workspaces', {
    says: 'Tens of seconds are usual for a cold start. Lost ones took with them what was not saved.',
    anchor: 'sandbox-starts-failed',
  }),
  [
    graph('Running, by ECS', [
      own('SandboxesRunning', { statistic: 'Maximum', label: 'sandboxes' }),
      own('PoolReady', { statistic: 'Minimum', label: 'of them warm and free, at least' }),
    ]),
    times(own, 'Cold starts', 'SandboxColdStartMs'),
    times(own, 'Warm starts', 'SandboxWarmStartMs'),
  ],
  [
    counts(own, 'Sandboxes that failed', 'SandboxStartsFailed', 'SandboxesLost', 'SandboxStopsFailed'),
    times(own, 'Workspace saves', 'WorkspaceSaveMs'),
    times(own, 'Workspace restores', 'WorkspaceRestoreMs'),
  ],
  [
    counts(own, 'Workspaces not whole', 'WorkspaceSavesFailed', 'WorkspaceRestoresIncomplete'),
    counts(own, 'Sessions ended for others', 'SessionsReaped', 'SessionsEvicted'),
  ],
  [logTable(watched, sandboxFailures, 24)],
];

export const webhookRows = (watched: Watched, own: OwnMetrics): readonly Row[] => [
  heading(watched, 'Webhooks', {
    says: 'Attempts fail while a receiver is down, and are made again. Disabled: nothing was accepted for a day.',
    anchor: 'webhooks-disabled',
  }),
  [
    times(own, 'Attempts of webhooks', 'WebhookAttemptMs'),
    counts(own, 'Webhooks that are not heard', 'WebhookAttemptsFailed', 'WebhooksDisabled'),
  ],
];
