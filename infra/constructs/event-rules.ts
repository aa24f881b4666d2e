/**
 * EventBridge rules: the sweeps by the clock, the synthetic check, and the state changes of ECS tasks.
 *
 * A sweep that cannot be delivered is retried until the next one is due, which does its work; what EventBridge may not deliver, or
 * could not in all that time, ends in the dead-letter queue, which has an alarm. A task event has no second chance, and is retried
 * for an hour.
 */
import { Duration } from 'aws-cdk-lib';
import type { ICluster } from 'aws-cdk-lib/aws-ecs';
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { FunctionName } from '#shared/config/environment.ts';
import type { Settings } from '../settings.ts';
import type { PlatformFunction } from './platform-function.ts';
import type { PlatformFunctions } from './platform-functions.ts';

export type SystemRulesProps = {
  readonly functions: PlatformFunctions;
  readonly cluster: ICluster;
  /** Receives events that could not be delivered. */
  readonly deadLetterQueue: IQueue;
};

type Sweep = {
  readonly sweep: string;
  readonly minutes: number;
  /** The time for which it waits for due work: less than until the next sweep. */
  readonly forSeconds?: number;
};

/** `shared/contracts/background-tasks.ts` */
const janitorSweeps: readonly Sweep[] = [
  { sweep: 'due', minutes: 1 },
  { sweep: 'slots', minutes: 5 },
  { sweep: 'orphans', minutes: 10 },
  { sweep: 'mcp', minutes: 1, forSeconds: 50 },
];
/** `shared/contracts/background-tasks.ts` */
const sealSweep: Sweep = { sweep: 'seals', minutes: 60 };
/** `shared/contracts/background-tasks.ts` */
const scheduleSweep: Sweep = { sweep: 'schedules', minutes: 1 };

/** With growing pauses: by then the next sweep is due. */
const sweepTriesMax = 5;
const taskEventTriesMax = 10;
const taskEventAgeMax = Duration.hours(1);

/** The rules that need no public address: the sweeps, and the state changes of ECS tasks. */
export class SystemRules extends Construct {
  /** Has the audit log sealed. */
  readonly sealSweep: Rule;

  constructor(scope: Construct, id: string, { functions, cluster, deadLetterQueue }: SystemRulesProps) {
    super(scope, id);
    const addSweep = ({ minutes, ...task }: Sweep, { lambda }: PlatformFunction<FunctionName>): Rule => {
      const event = RuleTargetInput.fromObject(task);
      return new Rule(this, `Sweep-${task.sweep}`, {
        description: `The sweep "${task.sweep}"`,
        schedule: Schedule.rate(Duration.minutes(minutes)),
        targets: [
          new LambdaFunction(lambda, {
            ...{ event, deadLetterQueue },
            retryAttempts: sweepTriesMax,
            maxEventAge: Duration.minutes(minutes),
          }),
        ],
      });
    };
    for (const sweep of janitorSweeps) addSweep(sweep, functions.janitor);
    this.sealSweep = addSweep(sealSweep, functions.janitor);
    addSweep(scheduleSweep, functions.schedules);
    new Rule(this, 'TaskStateChange', {
      description: 'State changes of tasks',
      eventPattern: {
        source: ['aws.ecs'],
        detailType: ['ECS Task State Change'],
        detail: { clusterArn: [cluster.clusterArn] },
      },
      targets: [
        new LambdaFunction(functions['task-events'].lambda, {
          deadLetterQueue,
          retryAttempts: taskEventTriesMax,
          maxEventAge: taskEventAgeMax,
        }),
      ],
    });
  }
}

export type PublicRulesProps = {
  readonly settings: Settings;
  readonly functions: Pick<PlatformFunctions, 'webhooks' | 'synthetic'>;
  /** The public address of the deployment. */
  readonly url: string;
};

const webhookSweepEvery = Duration.minutes(1);

/** Each check with the metric of those that pass (`functions/synthetic/check.ts`; event-rules.test.ts compares them). */
export const checks = [
  { check: 'turn', metricName: 'SyntheticTurnMs', every: Duration.minutes(5) },
  { check: 'sandbox', metricName: 'SyntheticSandboxMs', every: Duration.hours(1) },
];

export const isChecked = ({ variables }: Pick<Settings, 'variables'>): boolean =>
  variables.SYNTHETIC_CHECK !== 'false';

/**
 * The rules whose functions learn the public address from their input: the sweep of webhooks, and the synthetic check
 * unless `SYNTHETIC_CHECK` is `false`. None is retried: the next invocation is due soon, and checks do not pile up.
 */
export class PublicRules extends Construct {
  constructor(scope: Construct, id: string, { settings, functions, url }: PublicRulesProps) {
    super(scope, id);
    new Rule(this, 'WebhookSweep', {
      description: 'The sweep of webhooks',
      schedule: Schedule.rate(webhookSweepEvery),
      targets: [
        new LambdaFunction(functions.webhooks.lambda, {
          // `shared/contracts/background-tasks.ts`
          event: RuleTargetInput.fromObject({ sweep: 'webhooks', url }),
          retryAttempts: 0,
          maxEventAge: webhookSweepEvery,
        }),
      ],
    });
    for (const { check, every } of isChecked(settings) ? checks : [])
      new Rule(this, `Check-${check}`, {
        description: `The synthetic check of a ${check}`,
        schedule: Schedule.rate(every),
        targets: [
          new LambdaFunction(functions.synthetic.lambda, {
            event: RuleTargetInput.fromObject({ check, url }),
            retryAttempts: 0,
            maxEventAge: Duration.minutes(1),
          }),
        ],
      });
  }
}
