/**
 * The names of the metrics this platform emits, one home for code, dashboard and alarms.
 *
 * CloudWatch bills each combination of name and dimensions (https://aws.amazon.com/cloudwatch/pricing/). Ours has
 * one dimension, the deployment, so each name is one metric; the function is a field of its log line. A duration
 * needs no counter beside it: CloudWatch counts its values.
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
  'SessionsPaused',
  'SandboxesEvicted',
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
  'SignInsFailed',
  'SyntheticTurnMs',
  'SyntheticSandboxMs',
  'SyntheticChecksFailed',
] as const;

export type MetricName = (typeof metricNames)[number];

/** Number of names times dimensions, the synthetic check's included. */
export const customMetricsMax = 40;
