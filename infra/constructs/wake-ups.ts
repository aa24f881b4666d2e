/**
 * What wakes functions by itself: the sweeps by the clock, and what ECS says of its tasks.
 *
 * A sweep that can not be delivered is not tried again, since the next one does its work; it ends in the queue of
 * lost events, where it is noticed. A task event is nobody else's work, and is tried for an hour.
 */
import { Duration } from 'aws-cdk-lib';
import type { ICluster } from 'aws-cdk-lib/aws-ecs';
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { HouseFunctions } from './house-functions.ts';

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
