/**
 * What wakes functions by itself: the sweeps by the clock, and what ECS says of its tasks.
 *
 * A sweep that can not be delivered is not tried again, since the next one does its work; it ends in the queue of
 * lost events, where it is noticed. A task event is nobody else's work, and is tried for an hour.
 */
import { Duration } from 'aws-cdk-lib';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { ICluster } from 'aws-cdk-lib/aws-ecs';
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Settings } from '../settings.ts';
import type { Need } from './permission.ts';
import type { PlatformData } from './platform-data.ts';
import type { HouseFunction } from './platform-function.ts';
import type { HouseFunctions } from './platform-functions.ts';
import { usingKey } from './platform-key.ts';

export type WakeUpsProps = {
  readonly functions: HouseFunctions;
  readonly cluster: ICluster;
  /** Of what could not be delivered. */
  readonly lostEvents: IQueue;
};

type Sweep = {
  readonly sweep: string;
  readonly minutes: number;
  /** How long it stays for what becomes due: less than until the next. */
  readonly forSeconds?: number;
};

/** What the janitor looks at, and how often (`shared/contracts/janitor-task.ts`). */
const janitorSweeps: readonly Sweep[] = [
  { sweep: 'due', minutes: 1 },
  { sweep: 'slots', minutes: 5 },
  { sweep: 'orphans', minutes: 10 },
  { sweep: 'mcp', minutes: 1, forSeconds: 50 },
];
/** `shared/contracts/schedule-task.ts` */
const scheduleSweep: Sweep = { sweep: 'schedules', minutes: 1 };

const taskEventTriesMax = 10;
const taskEventAgeMax = Duration.hours(1);

export class WakeUps extends Construct {
  private readonly props: WakeUpsProps;

  constructor(scope: Construct, id: string, props: WakeUpsProps) {
    super(scope, id);
    this.props = props;
    const { janitor, schedules } = props.functions;
    for (const sweep of janitorSweeps) this.addSweep(sweep, janitor);
    this.addSweep(scheduleSweep, schedules);
    this.addTaskEvents();
  }

  private addSweep(
    { minutes, ...task }: Sweep,
    { lambda }: HouseFunctions['janitor'] | HouseFunctions['schedules'],
  ): void {
    const target = new LambdaFunction(lambda, {
      event: RuleTargetInput.fromObject(task),
      retryAttempts: 0,
      deadLetterQueue: this.props.lostEvents,
    });
    new Rule(this, `Sweep-${task.sweep}`, {
      description: `The sweep of ${task.sweep}`,
      schedule: Schedule.rate(Duration.minutes(minutes)),
      targets: [target],
    });
  }

  private addTaskEvents(): void {
    const { functions, cluster, lostEvents } = this.props;
    const target = new LambdaFunction(functions['task-events'].lambda, {
      deadLetterQueue: lostEvents,
      retryAttempts: taskEventTriesMax,
      maxEventAge: taskEventAgeMax,
    });
    new Rule(this, 'TaskStateChange', {
      description: 'What ECS says of the sandboxes',
      eventPattern: {
        source: ['aws.ecs'],
        detailType: ['ECS Task State Change'],
        detail: { clusterArn: [cluster.clusterArn] },
      },
      targets: [target],
    });
  }
}

/**
 * The sweep of webhooks: deliveries that are due again, and notices that were lost. It also tells the sender the address of
 * the deployment, which is not known before the one origin exists.
 *
 * A sweep that could not be delivered is not tried again: the next one is due in a minute.
 */
export type WebhookSweepProps = {
  readonly function: HouseFunction<'webhooks'>;
  /** The public address of the deployment. */
  readonly url: string;
};

const every = Duration.minutes(1);

export class WebhookSweep extends Construct {
  constructor(scope: Construct, id: string, { function: { lambda }, url }: WebhookSweepProps) {
    super(scope, id);
    new Rule(this, 'Rule', {
      description: 'The sweep of webhooks',
      schedule: Schedule.rate(every),
      targets: [
        new LambdaFunction(lambda, {
          // `shared/contracts/webhook-task.ts`
          event: RuleTargetInput.fromObject({ sweep: 'webhooks', url }),
          retryAttempts: 0,
          maxEventAge: every,
        }),
      ],
    });
  }
}

/**
 * The synthetic check: what its function may do, and the clock that has it use the platform where users meet it.
 *
 * A check that could not be delivered, or failed, is not made again: the next one is due soon, and checks do not pile
 * up. Without `SYNTHETIC_CHECK` it is on; `false` takes the clock away, and the function then does nothing.
 */
/** Longer than its longest wait, shorter than the time until the next one of its kind. */
export const checkTimeout = Duration.minutes(5);

/** It waits most of its time, and is paid for it. */
export const checkMemoryMib = 256;

/** What it is invoked with, and how often (`functions/synthetic/task.ts`). */
const checks = [
  { check: 'turn', every: Duration.minutes(5) },
  { check: 'sandbox', every: Duration.hours(1) },
];

/** The project whose token the check makes for itself (`functions/synthetic/own-token.ts`). */
const ownProject = 'PROJECT#00000000-0000-4000-8000-00000000c4ec';

type CheckVariables = { readonly TABLE_NAME: string };

export const isChecked = ({ variables }: Pick<Settings, 'variables'>): boolean =>
  variables.SYNTHETIC_CHECK !== 'false';

/** To make its project, and to make and revoke a token of it. */
export const checking = ({
  table,
  encryptionKey,
}: Pick<PlatformData, 'encryptionKey'> & { readonly table: ITableV2 }): Need<CheckVariables> => {
  const on = (action: string, ...starts: readonly string[]) => ({
    actions: [`dynamodb:${action}`],
    resources: [table.tableArn],
    conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': starts } },
  });
  return {
    // Whether it is on stands in the operator's settings, which every function is given.
    variables: { TABLE_NAME: table.tableName },
    statements: [
      on('GetItem', ownProject, 'TOKENID#*'),
      on('PutItem', ownProject, 'TOKEN#*', 'TOKENID#*'),
      on('DeleteItem', 'TOKEN#*', 'TOKENID#*'),
      ...usingKey(encryptionKey, {
        service: 'dynamodb',
        actions: ['Decrypt', 'DescribeKey', 'Encrypt', 'GenerateDataKey'],
      }),
    ],
  };
};

export type SyntheticCheckProps = {
  readonly settings: Settings;
  readonly function: HouseFunction<'synthetic'>;
  /** Where users meet the platform. */
  readonly url: string;
};

export class SyntheticCheck extends Construct {
  constructor(scope: Construct, id: string, { settings, function: { lambda }, url }: SyntheticCheckProps) {
    super(scope, id);
    if (!isChecked(settings)) return;
    for (const { check, every } of checks)
      new Rule(this, check, {
        description: `The synthetic check of a ${check}`,
        schedule: Schedule.rate(every),
        targets: [
          new LambdaFunction(lambda, {
            event: RuleTargetInput.fromObject({ check, url }),
            retryAttempts: 0,
            maxEventAge: Duration.minutes(1),
          }),
        ],
      });
  }
}
