/** What an operator sees: the alarms, who is told of them, and the dashboard. */
import { Duration, Stack } from 'aws-cdk-lib';
import { MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { Alarms } from '../constructs/alarms.ts';
import { Overview } from '../constructs/overview.ts';
import { counted } from '../constructs/own-metrics.ts';
import type { Settings } from '../settings.ts';
import type { ComputeStack } from './compute-stack.ts';
import type { EdgeStack } from './edge-stack.ts';

export type ObservabilityStackProps = {
  readonly settings: Settings;
  readonly compute: ComputeStack;
  readonly edge: EdgeStack;
};

const period = Duration.minutes(5);

export class ObservabilityStack extends Stack {
  constructor(scope: Construct, id: string, { settings, compute, edge }: ObservabilityStackProps) {
    super(scope, id, { description: 'Sallyport: alarms and dashboard' });
    const topic = new Topic(this, 'Topic', { displayName: settings.deployment, enforceSSL: true });
    for (const address of settings.alarmEmails) topic.addSubscription(new EmailSubscription(address));
    const alarms = new Alarms(this, 'Alarms', topic);
    addLost(alarms, compute);
    addFunctions(alarms, compute);
    addPlatform(alarms);
    addSandboxes(alarms);
    addWorkspaces(alarms);
    new Overview(this, 'Overview', { compute, edge, alarms: alarms.alarms });
  }
}

const addLost = (alarms: Alarms, { lostTurns, lostEvents }: ComputeStack): void => {
  const waiting = (queue: IQueue) =>
    queue.metricApproximateNumberOfMessagesVisible({ period: Duration.minutes(1), statistic: 'Maximum' });
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

const addFunctions = (alarms: Alarms, { functions }: ComputeStack): void => {
  for (const { name, lambda } of functions.all)
    alarms.alarm(`Errors-${name}`, {
      metric: lambda.metricErrors({ period }),
      says: `The function ${name} fails.`,
      runbook: 'function-errors',
      threshold: 1,
      periods: 2,
    });
  const throttles = functions.all.map(({ lambda }, index) => [
    `m${index}`,
    lambda.metricThrottles({ period }),
  ]);
  alarms.alarm('Throttles', {
    metric: new MathExpression({
      expression: `SUM(METRICS())`,
      usingMetrics: Object.fromEntries(throttles),
      label: 'throttles of all functions',
      period,
    }),
    says: 'Lambda refuses to run functions: the concurrency of the account or of the turn is used up.',
    runbook: 'function-throttles',
    threshold: 1,
    periods: 2,
  });
};

const addPlatform = (alarms: Alarms): void => {
  alarms.alarm('JanitorSilent', {
    metric: counted('SweepsDone', ['janitor'], Duration.minutes(1)),
    says: 'No sweep has ended for five minutes: what is idle or lost stays.',
    runbook: 'janitor-not-running',
    threshold: 1,
    periods: 5,
    below: true,
    whenSilent: true,
  });
  alarms.alarm('TurnsFailed', {
    metric: counted('TurnsFailed', ['turn']),
    says: 'Turns end with an error.',
    runbook: 'turn-errors',
    threshold: 5,
    periods: 2,
  });
  alarms.alarm('ScheduleRunsFailed', {
    metric: counted('ScheduleRunsFailed', ['schedules']),
    says: 'Scheduled runs fail.',
    runbook: 'scheduled-runs-failed',
    threshold: 5,
    periods: 2,
  });
  alarms.alarm('LeasesLost', {
    metric: counted('LeasesLost', ['turn']),
    says: 'Turns lose their lease while they work: the table or the clock is slow.',
    runbook: 'leases-lost',
    threshold: 5,
  });
  alarms.alarm('PlacesCorrected', {
    metric: counted('PlacesCorrected', ['janitor']),
    says: 'A counter of places was not what it counts.',
    runbook: 'places-corrected',
    threshold: 1,
  });
};

const addSandboxes = (alarms: Alarms): void => {
  alarms.alarm('SandboxStartsFailed', {
    metric: counted('SandboxStartsFailed', ['turn', 'janitor', 'api', 'mcp']),
    says: 'Sandboxes do not start.',
    runbook: 'sandbox-starts-failed',
    threshold: 3,
    periods: 2,
  });
  alarms.alarm('SandboxStopsFailed', {
    metric: counted('SandboxStopsFailed', ['janitor']),
    says: 'Sandboxes do not stop, and cost money.',
    runbook: 'sandbox-stops-failed',
    threshold: 1,
    periods: 3,
  });
  alarms.alarm('OrphansStopped', {
    metric: counted('OrphansStopped', ['janitor']),
    says: 'A task ran that no workspace knows.',
    runbook: 'orphans-stopped',
    threshold: 1,
  });
};

const addWorkspaces = (alarms: Alarms): void => {
  alarms.alarm('WorkspaceSavesFailed', {
    metric: counted('WorkspaceSavesFailed', ['turn', 'janitor', 'api', 'mcp']),
    says: 'A workspace was not saved: with its sandbox the newest files are lost.',
    runbook: 'workspace-saves-failed',
    threshold: 1,
  });
  alarms.alarm('WorkspaceRestoresIncomplete', {
    metric: counted('WorkspaceRestoresIncomplete', ['turn', 'api', 'janitor', 'mcp']),
    says: 'Files of a checkpoint did not come back.',
    runbook: 'workspace-restores-incomplete',
    threshold: 1,
  });
};
