/** The names of the metrics this platform emits, one home for code and dashboards (custom metrics cost money each). */
export const metricNames = [
  'TurnsStarted',
  'TurnsCompleted',
  'TurnsFailed',
  'TurnDurationMs',
  'ToolCalls',
  'ToolCallsFailed',
  'SandboxStartsCold',
  'SandboxStartMs',
  'SandboxStartsFailed',
  'SandboxesStopped',
  'LeasesLost',
  'LeasesContended',
  'SweepsDone',
  'SweepDue',
  'SocketsGone',
] as const;

export type MetricName = (typeof metricNames)[number];
