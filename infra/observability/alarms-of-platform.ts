/** Alarms about the platform itself: what was lost, functions, the table, the janitor. Each threshold has its reason beside it. */
import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { Alarms } from './alarms.ts';
import type { OwnMetrics, Watched } from './monitored.ts';

const period = Duration.minutes(5);

export const addAlarmsOfPlatform = (alarms: Alarms, watched: Watched, own: OwnMetrics): void => {
  addLost(alarms, watched);
  addFunctions(alarms, watched);
  addTable(alarms, watched);
  addJanitor(alarms, own);
  alarms.alarm('SyntheticChecksFailed', {
    metric: own('SyntheticChecksFailed'),
    says: 'A turn that the platform asks of itself, or its sandbox, failed.',
    runbook: 'synthetic-checks-failed',
    // It asks no model and nobody else decides: what it met the next user meets. With a sandbox it asks once an hour.
    threshold: 1,
  });
};

/** What lies in these queues was given up for good: one is enough. */
const addLost = (alarms: Alarms, { lostTurns, lostEvents }: Watched): void => {
  const waiting = (queue: IQueue) =>
    queue.metricApproximateNumberOfMessagesVisible({ period: Duration.minutes(1), statistic: Stats.MAXIMUM });
  alarms.alarm('LostTurns', {
    metric: waiting(lostTurns),
    says: 'A turn was given up by Lambda after its retries.',
    runbook: 'lost-turns',
    threshold: 1,
  });
  alarms.alarm('LostEvents', {
    metric: waiting(lostEvents),
    says: 'A task state change, a call of the janitor or a wake-up of a schedule was never handled.',
    runbook: 'lost-events',
    threshold: 1,
  });
};

const addFunctions = (alarms: Alarms, { functions }: Watched): void => {
  for (const { name, lambda } of functions)
    alarms.alarm(`Errors-${name}`, {
      metric: lambda.metricErrors({ period }),
      says: `The function ${name} fails.`,
      runbook: 'function-errors',
      // Every invocation is made again; what fails in two periods does not pass by itself.
      threshold: 1,
      periods: 2,
    });
  alarms.alarm('Throttles', {
    // Concurrency is the account's: so is this metric, which without a dimension costs as one alarm and not as eleven.
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

const addTable = (alarms: Alarms, { table }: Watched): void => {
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
    // The SDK asks again, and a table on demand that grows throttles for moments; so many are felt.
    threshold: 50,
    periods: 2,
  });
};

const addJanitor = (alarms: Alarms, own: OwnMetrics): void => {
  alarms.alarm('JanitorSilent', {
    metric: own('SweepDue', { statistic: Stats.SAMPLE_COUNT, period: Duration.minutes(1) }),
    says: 'No sweep has ended for five minutes: what is idle or lost stays.',
    runbook: 'janitor-not-running',
    // Five sweeps in a row: one that is late or retried is none of them.
    threshold: 1,
    periods: 5,
    below: true,
    whenSilent: true,
  });
  alarms.alarm('OrphansStopped', {
    metric: own('OrphansStopped'),
    says: 'A task ran that no workspace knows.',
    runbook: 'orphans-stopped',
    threshold: 1,
  });
  alarms.alarm('SlotsCorrected', {
    metric: own('SlotsCorrected'),
    says: 'A counter of slots was not what it counts.',
    runbook: 'slots-corrected',
    threshold: 1,
  });
  alarms.alarm('McpServersLost', {
    metric: own('McpServersLost'),
    says: 'Registered MCP servers are given up: agents go without their tools.',
    runbook: 'mcp-servers-lost',
    // One server belongs to its project; three at once have our network or its proxy in common.
    threshold: 3,
  });
};
