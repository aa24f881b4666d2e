/** Alarms of the platform itself: dead letters, functions, the table, the janitor. Each threshold has its reason beside it. */
import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { Alarms } from './alarms.ts';
import type { Monitored, PlatformMetrics } from './monitored.ts';

const period = Duration.minutes(5);

export const addPlatformAlarms = (alarms: Alarms, monitored: Monitored, metric: PlatformMetrics): void => {
  addDeadLetters(alarms, monitored);
  addFunctions(alarms, monitored);
  addTable(alarms, monitored);
  addJanitor(alarms, metric);
  alarms.alarm('SyntheticChecksFailed', {
    metric: metric('SyntheticChecksFailed'),
    says: 'A synthetic check failed: a turn that the platform sends to itself, or its sandbox.',
    runbook: 'synthetic-checks-failed',
    // It depends on no model and no other party: the next user meets the same failure. The one with a sandbox runs hourly.
    threshold: 1,
  });
};

/** A message in these queues has failed after all its retries: one is enough. */
const addDeadLetters = (alarms: Alarms, { deadLetterQueues }: Monitored): void => {
  const waiting = (queue: IQueue) =>
    queue.metricApproximateNumberOfMessagesVisible({ period: Duration.minutes(1), statistic: Stats.MAXIMUM });
  alarms.alarm('TurnDeadLetters', {
    metric: waiting(deadLetterQueues.turns),
    says: 'An invocation of a turn failed after its retries.',
    runbook: 'turn-dead-letters',
    threshold: 1,
  });
  alarms.alarm('EventDeadLetters', {
    metric: waiting(deadLetterQueues.events),
    says: 'A task state change, a sweep or a scheduled run was never handled.',
    runbook: 'event-dead-letters',
    threshold: 1,
  });
};

const addFunctions = (alarms: Alarms, { functions }: Monitored): void => {
  for (const { name, lambda } of functions)
    alarms.alarm(`Errors-${name}`, {
      metric: lambda.metricErrors({ period }),
      says: `The function ${name} fails.`,
      runbook: 'function-errors',
      // Every invocation is retried; a failure in two periods does not pass by itself.
      threshold: 1,
      periods: 2,
    });
  alarms.alarm('Throttles', {
    // Concurrency is the account's, and so is this metric: without a dimension it is billed as one alarm, not one per function.
    metric: new Metric({
      namespace: 'AWS/Lambda',
      metricName: 'Throttles',
      statistic: Stats.SUM,
      label: 'throttles in this account and region',
      period,
    }),
    says: 'Lambda refuses to run functions: the concurrency of the account or of a function is used up.',
    runbook: 'function-throttles',
    threshold: 1,
    periods: 2,
  });
};

const addTable = (alarms: Alarms, { table }: Monitored): void => {
  const throttled = (metricName: string) => table.metric(metricName, { statistic: Stats.SUM, period });
  alarms.alarm('TableThrottles', {
    metric: new MathExpression({
      expression: 'FILL(reads, 0) + FILL(writes, 0)',
      usingMetrics: { reads: throttled('ReadThrottleEvents'), writes: throttled('WriteThrottleEvents') },
      label: 'throttled reads and writes',
      period,
    }),
    says: 'The table throttles.',
    runbook: 'table-throttles',
    // The SDK retries, and an on-demand table throttles for moments while it grows; users notice this many.
    threshold: 50,
    periods: 2,
  });
};

const addJanitor = (alarms: Alarms, metric: PlatformMetrics): void => {
  alarms.alarm('JanitorSilent', {
    metric: metric('SweepDue', { statistic: Stats.SAMPLE_COUNT, period: Duration.minutes(1) }),
    says: 'No sweep has ended for five minutes: idle and lost sandboxes keep running.',
    runbook: 'janitor-not-running',
    // Five sweeps in a row: a single one may be late or retried.
    threshold: 1,
    periods: 5,
    below: true,
    whenSilent: true,
  });
  alarms.alarm('OrphansStopped', {
    metric: metric('OrphansStopped'),
    says: 'A task was running that belongs to no workspace.',
    runbook: 'orphans-stopped',
    threshold: 1,
  });
  alarms.alarm('SlotsCorrected', {
    metric: metric('SlotsCorrected'),
    says: 'A counter of slots differed from the slots that are held.',
    runbook: 'slots-corrected',
    threshold: 1,
  });
  alarms.alarm('McpServersLost', {
    metric: metric('McpServersLost'),
    says: 'Registered MCP servers are disconnected: agents run without their tools.',
    runbook: 'mcp-servers-lost',
    // One failing server is its project's matter; three at once share the platform's network.
    threshold: 3,
  });
};
