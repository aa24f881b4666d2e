/**
 * The sandboxes as a cluster: one task definition per template, and who may run, find and stop them.
 *
 * Nothing here may open a shell in one: there is no right to ECS Exec, and a start that asks for it is refused.
 */
import { ArnFormat, Stack } from 'aws-cdk-lib';
import type { IVpc } from 'aws-cdk-lib/aws-ec2';
import { Cluster, type FargateTaskDefinition } from 'aws-cdk-lib/aws-ecs';
import { Construct } from 'constructs';
import { cpuUnits, type Flavor } from '../settings.ts';
import { acknowledge } from './acknowledge.ts';
import { bundleSandbox } from './assets.ts';
import { all, knowing, may, type Need } from './permission.ts';
import { refuseGuestPath, sandboxDefinition, type Template } from './task-definition.ts';

export type SandboxClusterProps = {
  readonly vpc: IVpc;
  /** Names the task families. Absent: `sallyport`. */
  readonly deployment?: string;
  /** Sizes that a sandbox may be started in, whatever a project says. Absent: all. */
  readonly flavorsAllowed?: readonly Flavor[] | undefined;
  /** What the images are built on instead of the Dockerfile's own. */
  readonly templates?: { readonly [K in Template]?: { readonly baseImage: string } } | undefined;
  /** Where the volume is that sandboxes of one owner share; absent without one. */
  readonly sharedGuestPath?: string | undefined;
};

type Conditions = Readonly<Record<string, object>>;
type TaskVariables = { readonly DEPLOYMENT: string; readonly SANDBOX_CLUSTER: string };
type RunVariables = TaskVariables & {
  readonly SANDBOX_TASK_PYTHON: string;
  readonly SANDBOX_TASK_NODE: string;
};

export class SandboxCluster extends Construct {
  readonly cluster: Cluster;
  private readonly definitions: Readonly<Record<Template, FargateTaskDefinition>>;
  private readonly deployment: string;
  private readonly props: SandboxClusterProps;

  constructor(scope: Construct, id: string, props: SandboxClusterProps) {
    super(scope, id);
    const { vpc, deployment = 'sallyport', templates, sharedGuestPath } = props;
    this.deployment = deployment;
    this.props = props;
    refuseGuestPath(sharedGuestPath);
    this.cluster = new Cluster(this, 'Cluster', { vpc });
    acknowledge(
      this.cluster,
      'ECS4',
      'Container Insights bills every task; what happens to sandboxes is counted by the platform.',
    );
    bundleSandbox(Stack.of(this));
    const define = (template: Template): FargateTaskDefinition =>
      sandboxDefinition(this, {
        template,
        deployment,
        baseImage: templates?.[template]?.baseImage,
        sharedGuestPath,
      });
    this.definitions = { python: define('python'), node: define('node') };
  }

  /** To ask ECS whether one still runs. */
  private get asking(): Need<object> {
    return may({
      actions: ['ecs:DescribeTasks'],
      resources: [this.taskArns],
      conditions: this.inCluster,
      because: 'Tasks have ids of their own; those of this cluster are all sandboxes.',
    });
  }

  /** To find them all, and to stop them: the janitor's. */
  get sweeping(): Need<TaskVariables> {
    return all(
      this.knowingCluster,
      may(
        {
          actions: ['ecs:StopTask'],
          resources: [this.taskArns],
          conditions: this.inCluster,
          because: 'Tasks have ids of their own; those of this cluster are all sandboxes.',
        },
        {
          actions: ['ecs:ListTasks'],
          resources: ['*'],
          conditions: this.inCluster,
          because:
            'Listing is a right on container instances, of which Fargate has none; the cluster is a condition.',
        },
      ),
    );
  }

  /** To start sandboxes, and to see what became of them. */
  get running(): Need<RunVariables> {
    const { python, node } = this.definitions;
    return all(
      this.knowingCluster,
      this.asking,
      knowing({ SANDBOX_TASK_PYTHON: python.taskDefinitionArn, SANDBOX_TASK_NODE: node.taskDefinitionArn }),
      may(
        {
          actions: ['ecs:RunTask'],
          resources: [python.taskDefinitionArn, node.taskDefinitionArn],
          conditions: { ...this.inCluster, ...this.asPlanned },
        },
        {
          actions: ['iam:PassRole'],
          resources: [python.obtainExecutionRole().roleArn, node.obtainExecutionRole().roleArn],
          conditions: { StringEquals: { 'iam:PassedToService': 'ecs-tasks.amazonaws.com' } },
        },
      ),
    );
  }

  /**
   * Where and how a task is started is said by who starts it: in our subnets, without a shell, in a size that is
   * allowed (https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonelasticcontainerservice.html).
   */
  private get asPlanned(): Conditions {
    const { vpc, flavorsAllowed } = this.props;
    return {
      StringEqualsIfExists: { 'ecs:enable-execute-command': 'false' },
      'ForAllValues:StringEquals': { 'ecs:subnet': vpc.isolatedSubnets.map(({ subnetId }) => subnetId) },
      ...(flavorsAllowed && {
        NumericEquals: { 'ecs:task-cpu': flavorsAllowed.map((name) => String(cpuUnits[name])) },
      }),
    };
  }

  private get knowingCluster(): Need<TaskVariables> {
    return knowing({ DEPLOYMENT: this.deployment, SANDBOX_CLUSTER: this.cluster.clusterArn });
  }

  private get inCluster() {
    return { ArnEquals: { 'ecs:cluster': this.cluster.clusterArn } };
  }

  private get taskArns(): string {
    return Stack.of(this).formatArn({
      service: 'ecs',
      resource: 'task',
      resourceName: `${this.cluster.clusterName}/*`,
      arnFormat: ArnFormat.SLASH_RESOURCE_NAME,
    });
  }
}
