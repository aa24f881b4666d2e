/**
 * The group of EventBridge Scheduler that holds the next runs, and the role with which it invokes their function: that
 * role invokes one function and writes to one queue, and only the scheduler, for this group, may assume it.
 *
 * https://docs.aws.amazon.com/scheduler/latest/UserGuide/setting-up.html#setting-up-execution-role ·
 * https://docs.aws.amazon.com/scheduler/latest/UserGuide/cross-service-confused-deputy-prevention.html
 */
import { RemovalPolicy, Stack } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnScheduleGroup } from 'aws-cdk-lib/aws-scheduler';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { type FunctionTarget, functionNamed, type Permission } from './permission.ts';

export type ScheduleGroupProps = {
  readonly deployment: string;
  /** Receives invocations that could not be delivered. */
  readonly deadLetterQueue: IQueue;
};

type SchedulerVariables = {
  readonly SCHEDULE_GROUP: string;
  readonly SCHEDULE_TARGET: string;
  readonly SCHEDULE_ROLE: string;
  readonly SCHEDULE_DEAD_LETTERS: string;
};

export class ScheduleGroup extends Construct {
  /** The function by its name, before it is created: the role may invoke it, and it passes the role on. */
  readonly target: FunctionTarget;
  /** To create and delete schedules in the group, and nothing else of the scheduler. */
  readonly createSchedules: Permission<SchedulerVariables>;

  constructor(scope: Construct, id: string, { deployment, deadLetterQueue }: ScheduleGroupProps) {
    super(scope, id);
    const name = `${deployment}-runs`;
    const group = new CfnScheduleGroup(this, 'Group', { name });
    group.applyRemovalPolicy(RemovalPolicy.DESTROY);
    this.target = functionNamed(Stack.of(this), `${deployment}-schedules`);
    const role = this.addRole(group, this.target, deadLetterQueue);
    const { partition, region, account } = Stack.of(this);
    this.createSchedules = {
      variables: {
        SCHEDULE_GROUP: group.ref,
        SCHEDULE_TARGET: this.target.functionArn,
        SCHEDULE_ROLE: role.roleArn,
        SCHEDULE_DEAD_LETTERS: deadLetterQueue.queueArn,
      },
      statements: [
        {
          actions: ['scheduler:CreateSchedule', 'scheduler:DeleteSchedule'],
          resources: [`arn:${partition}:scheduler:${region}:${account}:schedule/${name}/*`],
          because: 'Schedules are created at run time; everything in the group is the next run of one.',
        },
        {
          actions: ['iam:PassRole'],
          resources: [role.roleArn],
          conditions: { StringEquals: { 'iam:PassedToService': 'scheduler.amazonaws.com' } },
        },
      ],
    };
  }

  private addRole(group: CfnScheduleGroup, { functionArn }: FunctionTarget, deadLetterQueue: IQueue): Role {
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
        conditions: {
          StringEquals: { 'aws:SourceAccount': Stack.of(this).account },
          ArnEquals: { 'aws:SourceArn': group.attrArn },
        },
      }),
    });
    role.addToPolicy(new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [functionArn] }));
    deadLetterQueue.grantSendMessages(role);
    return role;
  }
}
