/**
 * The group of EventBridge Scheduler in which the next runs are kept, and the role by which it wakes their function:
 * that role invokes one function and writes to one queue, and only the scheduler, for this group, may take it on.
 *
 * https://docs.aws.amazon.com/scheduler/latest/UserGuide/setting-up.html#setting-up-execution-role ·
 * https://docs.aws.amazon.com/scheduler/latest/UserGuide/cross-service-confused-deputy-prevention.html
 */
import { ArnFormat, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnScheduleGroup } from 'aws-cdk-lib/aws-scheduler';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Need } from './permission.ts';

export type ScheduleGroupProps = {
  readonly deployment: string;
  /** What could not be delivered. */
  readonly lostEvents: IQueue;
};

type SchedulerVariables = {
  readonly SCHEDULE_GROUP: string;
  readonly SCHEDULE_TARGET: string;
  readonly SCHEDULE_ROLE: string;
  readonly SCHEDULE_DEAD_LETTERS: string;
};

type Target = { readonly functionName: string; readonly functionArn: string };

export class ScheduleGroup extends Construct {
  /** Named before it is made: the role may invoke it, and it hands the role on. */
  readonly target: Target;
  /** To order wake-ups in the group, and nothing else of the scheduler's. */
  readonly arming: Need<SchedulerVariables>;

  constructor(scope: Construct, id: string, { deployment, lostEvents }: ScheduleGroupProps) {
    super(scope, id);
    const name = `${deployment}-runs`;
    const group = new CfnScheduleGroup(this, 'Group', { name });
    group.applyRemovalPolicy(RemovalPolicy.DESTROY);
    this.target = targetOf(Stack.of(this), deployment);
    const role = this.addRole(group, this.target, lostEvents);
    const { partition, region, account } = Stack.of(this);
    this.arming = {
      variables: {
        SCHEDULE_GROUP: group.ref,
        SCHEDULE_TARGET: this.target.functionArn,
        SCHEDULE_ROLE: role.roleArn,
        SCHEDULE_DEAD_LETTERS: lostEvents.queueArn,
      },
      statements: [
        {
          actions: ['scheduler:CreateSchedule', 'scheduler:DeleteSchedule'],
          resources: [`arn:${partition}:scheduler:${region}:${account}:schedule/${name}/*`],
          because: 'Runs come and go; everything in the group is the next run of one.',
        },
        {
          actions: ['iam:PassRole'],
          resources: [role.roleArn],
          conditions: { StringEquals: { 'iam:PassedToService': 'scheduler.amazonaws.com' } },
        },
      ],
    };
  }

  private addRole(group: CfnScheduleGroup, { functionArn }: Target, lostEvents: IQueue): Role {
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
        conditions: {
          StringEquals: { 'aws:SourceAccount': Stack.of(this).account },
          ArnEquals: { 'aws:SourceArn': group.attrArn },
        },
      }),
    });
    role.addToPolicy(new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [functionArn] }));
    lostEvents.grantSendMessages(role);
    return role;
  }
}

const targetOf = (stack: Stack, deployment: string): Target => {
  const functionName = `${deployment}-schedules`;
  const functionArn = stack.formatArn({
    service: 'lambda',
    resource: 'function',
    resourceName: functionName,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  return { functionName, functionArn };
};
