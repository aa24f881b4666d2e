/**
 * The names of the metrics this platform emits, one home for code, dashboard and alarms.
 *
 * CloudWatch bills each combination of name and dimensions (https://aws.amazon.com/cloudwatch/pricing/). Ours has one
 * dimension, the deployment, so each name is one metric; which function said it is a field of its log line. The number
 * of values of a duration is the count of what took it: there is no counter beside it.
 */
export const metricNames = [
  'TurnsStarted',
  'TurnDurationMs',
  'TurnsFailed',
  'FirstDeltaMs',
  'ApprovalsAsked',
  'ApprovalWaitMs',
  'ToolCallMs',
  'ToolCallsFailed',
  'SessionCostUsd',
  'SandboxColdStartMs',
  'SandboxWarmStartMs',
  'SandboxStartsFailed',
  'SandboxStopsFailed',
  'SandboxesLost',
  'SandboxesRunning',
  'PoolReady',
  'SessionsReaped',
  'SessionsEvicted',
  'WorkspaceSaveMs',
  'WorkspaceSavesFailed',
  'WorkspaceRestoreMs',
  'WorkspaceRestoresIncomplete',
  'LeasesLost',
  'LeasesContended',
  'SweepDue',
  'OrphansStopped',
  'SlotsCorrected',
  'McpChecksFailed',
  'McpServersLost',
  'SocketsGone',
  'ScheduleRuns',
  'ScheduleRunsFailed',
  'WebhookAttemptMs',
  'WebhookAttemptsFailed',
  'WebhooksDisabled',
  'SyntheticTurnMs',
  'SyntheticSandboxMs',
  'SyntheticChecksFailed',
] as const;

export type MetricName = (typeof metricNames)[number];

/** Of names times dimensions, the synthetic check's included. */
export const customMetricsMax = 40;
