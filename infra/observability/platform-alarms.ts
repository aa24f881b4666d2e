/** Alarms of the platform itself: dead letters, functions, the table, the janitor. Each threshold has its reason beside it. */
import { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { checks } from '../constructs/event-rules.ts';
import type { Alarms } from './alarms.ts';
import {
  droppedInvocations,
  type Monitored,
  type MonitoredFunction,
  type PlatformMetrics,
  tableThrottles,
} from './monitored.ts';

const period = Duration.minutes(5);
/** Of the rule (`infra/constructs/event-rules.ts`). */
const sealPeriod = Duration.hours(1);

/**
 * A function that dies leaves an orphan, or a slot without a holder, and the janitor clears it away: that is its work. As many as
 * these, at once or sweep after sweep, are a leak.
 */
const leakMin = 3;
const leakPeriod = Duration.minutes(30);

export const addPlatformAlarms = (alarms: Alarms, monitored: Monitored, metric: PlatformMetrics): void => {
  addDeadLetters(alarms, monitored);
  addFunctions(alarms, monitored);
  addFaults(alarms, monitored);
  addDropped(alarms, monitored);
  addTable(alarms, monitored);
  addJanitor(alarms, metric);
  addSeals(alarms, monitored);
  addSweeps(alarms, monitored);
  if (monitored.isChecked) addChecks(alarms, metric);
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
    says: 'A task state change, a sweep, a scheduled run or the deliveries of a webhook were never handled.',
    runbook: 'event-dead-letters',
    threshold: 1,
  });
};

const addFunctions = (alarms: Alarms, monitored: Monitored): void => {
  const { functions } = monitored;
  for (const one of functions) {
    const { name, lambda } = one;
    // A failed check fails its invocation, and has an alarm; so has a function of checks that does not start: it passes none.
    if (name === 'synthetic') continue;
    alarms.alarm(`Errors-${name}`, {
      metric:
        name === 'authorizer' ? faultsOfAuthorizer(alarms, monitored, one) : lambda.metricErrors({ period }),
      says: `The function ${name} fails.`,
      runbook: 'function-errors',
      // Every invocation is retried; a failure in two periods does not pass by itself.
      threshold: 1,
      periods: 2,
    });
  }
  alarms.alarm('Throttles', {
    metric: throttlesOf(functions),
    says: 'Lambda refuses to run functions whose callers wait: the concurrency of the account or of a function is used up.',
    runbook: 'function-throttles',
    threshold: 1,
    periods: 2,
  });
};

/** Of the log: what is written there costs nothing as long as there is none. */
const namespaceOf = ({ deployment }: Pick<Monitored, 'deployment'>): string => `Sallyport/${deployment}`;

/** API Gateway answers 401 to an authorizer that fails with one message: Lambda counts each client with an old token as an error. */
const faultsOfAuthorizer = (
  scope: Construct,
  monitored: Monitored,
  { lambda }: MonitoredFunction,
): MathExpression => {
  const refused = new MetricFilter(scope, 'ConnectsUnauthenticated', {
    ...{ logGroup: lambda.logGroup, metricNamespace: namespaceOf(monitored) },
    ...{ metricName: 'ConnectsUnauthenticated', metricValue: '1' },
    filterPattern: FilterPattern.all(
      FilterPattern.stringValue('$.event', '=', 'request_refused'),
      FilterPattern.stringValue('$.code', '=', 'unauthenticated'),
    ),
  }).metric({ statistic: Stats.SUM, period });
  return new MathExpression({
    expression: 'FILL(errors, 0) - FILL(refused, 0)',
    usingMetrics: { errors: lambda.metricErrors({ period }), refused },
    label: 'errors that refuse no caller',
    period,
  });
};

/** These answer a request that failed (`shared/application/access/record-refusal.ts`). */
const answering: ReadonlySet<string> = new Set(['api', 'mcp', 'relay', 'socket']);

/**
 * Requests that end with `internal_error`. Their function answers them, so Lambda counts no error; they are counted in its log,
 * where the metric costs nothing as long as there is none.
 */
const addFaults = (alarms: Alarms, monitored: Monitored): void => {
  const [metricNamespace, metricName] = [namespaceOf(monitored), 'Faults'];
  for (const { name, lambda } of monitored.functions)
    if (answering.has(name))
      new MetricFilter(alarms, `Faults-${name}`, {
        ...{ logGroup: lambda.logGroup, metricNamespace, metricName, metricValue: '1' },
        filterPattern: FilterPattern.all(
          FilterPattern.stringValue('$.event', '=', 'request_refused'),
          FilterPattern.stringValue('$.code', '=', 'internal_error'),
        ),
      });
  alarms.alarm('Faults', {
    metric: new Metric({ namespace: metricNamespace, metricName, statistic: Stats.SUM, period }),
    says: 'Requests of clients end with internal_error.',
    runbook: 'function-errors',
    // As for the errors of a function: a fault in two periods does not pass by itself.
    threshold: 1,
    periods: 2,
  });
};

/** A caller of these waits; what is refused of the others runs later, and has alarms of its own when it does not. */
const waitedFor: ReadonlySet<string> = new Set([
  'api',
  'authorizer',
  'mcp',
  'sandbox-link',
  'socket',
  'turn',
]);

/** Of this deployment: concurrency is the account's, and others of it may be throttled without harm to this one. */
const throttlesOf = (functions: Monitored['functions']): MathExpression => {
  const usingMetrics = Object.fromEntries(
    functions
      .filter(({ name }) => waitedFor.has(name))
      .map(({ name, lambda }) => [name.replaceAll('-', ''), lambda.metricThrottles({ period })]),
  );
  return sumOf(usingMetrics, 'refused invocations of this deployment');
};

const sumOf = (metrics: Readonly<Record<string, IMetric>>, label: string): MathExpression => {
  const terms = Object.keys(metrics).map((id) => `FILL(${id}, 0)`);
  return new MathExpression({ expression: terms.join(' + '), usingMetrics: { ...metrics }, label, period });
};

const addDropped = (alarms: Alarms, monitored: Monitored): void =>
  alarms.alarm('InvocationsDropped', {
    metric: sumOf(droppedInvocations(monitored), 'dropped invocations'),
    says: 'Relays of sandboxes were not held, or output of terminals or greetings of connections not sent.',
    runbook: 'dropped-invocations',
    // One that is dropped passes by itself: the next call or key asks for another.
    threshold: 1,
    periods: 2,
  });

const addTable = (alarms: Alarms, monitored: Monitored): void => {
  // A write waits for every index, and fails with it. Reads of an index have their graph: each metric of an alarm is billed.
  const reads = tableThrottles(monitored, 'ReadThrottleEvents', 'reads').slice(0, 1);
  const writes = tableThrottles(monitored, 'WriteThrottleEvents', 'writes');
  const metrics = [...reads, ...writes].map((metric, index) => [`m${index}`, metric] as const);
  alarms.alarm('TableThrottles', {
    metric: sumOf(Object.fromEntries(metrics), 'throttled reads and writes'),
    says: 'The table throttles, or the writes of an index do.',
    runbook: 'table-throttles',
    // The SDK retries, and an on-demand table throttles for moments while it grows; users notice this many.
    threshold: 50,
    periods: 2,
  });
};

const addJanitor = (alarms: Alarms, metric: PlatformMetrics): void => {
  alarms.silence('JanitorSilent', {
    metrics: [metric('SweepDue', { statistic: Stats.SAMPLE_COUNT, period: Duration.minutes(1) })],
    says: 'No sweep has ended for five minutes: idle and lost sandboxes keep running.',
    runbook: 'janitor-not-running',
    // Five sweeps in a row: a single one may be late or retried.
    periods: 5,
  });
  alarms.alarm('OrphansStopped', {
    metric: metric('OrphansStopped', { period: leakPeriod }),
    says: 'Again and again a task was running that belongs to no workspace.',
    runbook: 'orphans-stopped',
    threshold: leakMin,
  });
  alarms.alarm('SlotsCorrected', {
    metric: metric('SlotsCorrected', { period: leakPeriod }),
    says: 'Again and again a counter of slots differed from the slots that are held.',
    runbook: 'slots-corrected',
    threshold: leakMin,
  });
  alarms.alarm('McpServersLost', {
    metric: metric('McpServersLost'),
    says: 'Registered MCP servers are disconnected: agents run without their tools.',
    runbook: 'mcp-servers-lost',
    // One failing server is its project's matter; three at once share the platform's network.
    threshold: 3,
  });
};

/** A metric of EventBridge, which costs nothing: a seal that fails is in the dead letters, one that is never asked for is nowhere. */
const addSeals = (alarms: Alarms, { sealSweep: { ruleName } }: Monitored): void =>
  alarms.silence('SealsMissing', {
    metrics: [
      new Metric({
        ...{ namespace: 'AWS/Events', metricName: 'Invocations', dimensionsMap: { RuleName: ruleName } },
        ...{ statistic: Stats.SUM, period: sealPeriod },
      }),
    ],
    says: 'The audit log was not sealed for two hours: its newest rows can be dropped unseen.',
    runbook: 'seals-missing',
    // Two hours in a row: the rule's hour need not begin with the metric's.
    periods: 2,
  });

/** A rule invokes these every minute, and nothing else tells when it does not: what they sweep is usually nothing. */
const swept: ReadonlySet<string> = new Set(['schedules', 'webhooks']);

const addSweeps = (alarms: Alarms, { functions }: Monitored): void => {
  const [first, ...others] = functions
    .filter(({ name }) => swept.has(name))
    .map(({ name, lambda }) => lambda.metricInvocations({ period, statistic: Stats.SUM, label: name }));
  if (first === undefined) return;
  alarms.silence('SweepsMissing', {
    metrics: [first, ...others],
    says: 'Schedules or webhooks are not swept: runs and deliveries that were lost stay lost.',
    runbook: 'sweeps-missing',
    // A moment in which the function is throttled passes by itself.
    periods: 3,
  });
};

const addChecks = (alarms: Alarms, metric: PlatformMetrics): void => {
  alarms.alarm('SyntheticChecksFailed', {
    metric: metric('SyntheticChecksFailed'),
    says: 'A synthetic check failed: a turn that the platform sends to itself, or its sandbox.',
    runbook: 'synthetic-checks-failed',
    // It depends on no model and no other party: the next user meets the same failure. The one with a sandbox runs hourly.
    threshold: 1,
  });
  for (const { check, every, metricName } of checks)
    alarms.silence(`SyntheticMissing-${check}`, {
      metrics: [metric(metricName, { statistic: Stats.SAMPLE_COUNT, period: every })],
      says: `No synthetic check of a ${check} has passed for a while: none runs, or all fail.`,
      runbook: 'synthetic-checks-missing',
      // A single one may fail or be dropped. Two of those with a sandbox are two hours.
      periods: check === 'turn' ? 3 : 2,
    });
};
