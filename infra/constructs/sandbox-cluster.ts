/**
 * The cluster of the sandboxes: one task definition per template, and the permissions to run, find and stop tasks.
 *
 * No permission opens a shell in a task: none includes ECS Exec, and a start that enables it is refused.
 */
import { ArnFormat, Stack } from 'aws-cdk-lib';
import type { IVpc } from 'aws-cdk-lib/aws-ec2';
import { Cluster, type FargateTaskDefinition } from 'aws-cdk-lib/aws-ecs';
import { Construct } from 'constructs';
import type { ValuesOf } from '#shared/config/group.ts';
import type { sandboxSettings } from '#shared/config/settings.ts';
import { cpuUnits, type Flavor } from '../settings.ts';
import { bundleSandbox, type SandboxImageProps } from './assets.ts';
import { acknowledge } from './nag-exceptions.ts';
import { combine, env, type Permission, permit } from './permission.ts';
import { refuseGuestPath, sandboxDefinition } from './task-definition.ts';

export type SandboxClusterProps = {
  readonly vpc: IVpc;
  /** Names the task families. Absent: `sallyport`. */
  readonly deployment?: string;
  /** Sizes in which a sandbox may be started. Absent: all. */
  readonly flavorsAllowed?: readonly Flavor[] | undefined;
  /** The base images instead of the Dockerfile's own. */
  readonly templates?: { readonly [K in OwnTemplate]?: { readonly baseImage: string } } | undefined;
  /** Further templates, each with a task definition of its own. */
  readonly namedTemplates?: readonly NamedTemplate[] | undefined;
  /** The path of the volume that sandboxes of one owner share; absent without one. */
  readonly sharedGuestPath?: string | undefined;
};

type OwnTemplate = 'python' | 'node';
/** As `SANDBOX_TEMPLATES` names it. */
export type NamedTemplate = NonNullable<ValuesOf<typeof sandboxSettings>['SANDBOX_TEMPLATES']>[number];

type Conditions = Readonly<Record<string, object>>;
type TaskVariables = { readonly DEPLOYMENT: string; readonly SANDBOX_CLUSTER: string };
type RunVariables = TaskVariables & {
  readonly SANDBOX_TASK_PYTHON: string;
  readonly SANDBOX_TASK_NODE: string;
  readonly SANDBOX_TEMPLATE_TASKS?: string;
};

export class SandboxCluster extends Construct {
  readonly cluster: Cluster;
  private readonly definitions: Readonly<Record<OwnTemplate, FargateTaskDefinition>>;
  private readonly named: ReadonlyMap<string, FargateTaskDefinition>;
  private readonly deployment: string;
  private readonly props: SandboxClusterProps;

  constructor(scope: Construct, id: string, props: SandboxClusterProps) {
    super(scope, id);
    const { vpc, deployment = 'sallyport', templates, namedTemplates = [], sharedGuestPath } = props;
    this.deployment = deployment;
    this.props = props;
    refuseGuestPath(sharedGuestPath);
    this.cluster = new Cluster(this, 'Cluster', { vpc });
    acknowledge(
      this.cluster,
      'ECS4',
      'Container Insights bills every task; the platform emits its own metrics of sandboxes.',
    );
    bundleSandbox(Stack.of(this));
    type Definition = Partial<SandboxImageProps> & { readonly family: string };
    const define = (template: string, own: Definition): FargateTaskDefinition =>
      sandboxDefinition(this, { template, vpc, sharedGuestPath, ...own });
    const ofOurs = (template: OwnTemplate) =>
      define(template, {
        family: `${deployment}-${template}`,
        baseImage: templates?.[template]?.baseImage,
      });
    // No name holds an underscore: with a hyphen, a template could have the family of a deployment whose name begins with this one's.
    const familyOf = (name: string): string => `${deployment}_${name}`;
    this.definitions = { python: ofOurs('python'), node: ofOurs('node') };
    this.named = new Map(
      namedTemplates.map(({ name, image, dockerfile }) => [
        name,
        define(name, {
          family: familyOf(name),
          ...(dockerfile === undefined ? { baseImage: image, target: 'node' } : { dockerfile }),
        }),
      ]),
    );
  }

  /** To read the state of a task. */
  private get describeTasks(): Permission<object> {
    return permit({
      actions: ['ecs:DescribeTasks'],
      resources: [this.taskArns],
      conditions: this.inCluster,
      because: 'Tasks are created at run time; all tasks of this cluster are sandboxes.',
    });
  }

  /** To find them combine, and to stop them: the janitor's. */
  get stopTasks(): Permission<TaskVariables> {
    return combine(
      this.clusterEnv,
      permit(
        {
          actions: ['ecs:StopTask'],
          resources: [this.taskArns],
          conditions: this.inCluster,
          because: 'Tasks are created at run time; all tasks of this cluster are sandboxes.',
        },
        {
          actions: ['ecs:ListTasks'],
          resources: ['*'],
          conditions: this.inCluster,
          because:
            'The resource of listing is a container instance, of which Fargate has none; the cluster is a condition.',
        },
      ),
    );
  }

  /** To run tasks, and to read their state. */
  get runTasks(): Permission<RunVariables> {
    const { python, node } = this.definitions;
    const named = [...this.named].map(([name, { taskDefinitionArn }]) => `${name}=${taskDefinitionArn}`);
    const definitions = [python, node, ...this.named.values()];
    return combine(
      this.clusterEnv,
      this.describeTasks,
      env<Omit<RunVariables, keyof TaskVariables>>({
        SANDBOX_TASK_PYTHON: python.taskDefinitionArn,
        SANDBOX_TASK_NODE: node.taskDefinitionArn,
        ...(named.length === 0 ? {} : { SANDBOX_TEMPLATE_TASKS: named.join() }),
      }),
      permit(
        {
          actions: ['ecs:RunTask'],
          resources: definitions.map(({ family }) => this.everyRevisionOf(family)),
          because:
            'An invocation that runs during an upgrade starts the revision that it knows, which the upgrade keeps.',
          conditions: { ...this.inCluster, ...this.runConditions },
        },
        {
          actions: ['iam:PassRole'],
          resources: definitions.map((definition) => definition.obtainExecutionRole().roleArn),
          conditions: { StringEquals: { 'iam:PassedToService': 'ecs-tasks.amazonaws.com' } },
        },
      ),
    );
  }

  /**
   * The caller of RunTask chooses shell, volumes and size, so conditions limit them. Subnets have no condition key in this
   * action: the execution role limits them, since it pulls no image elsewhere (`task-definition.ts`,
   * https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonelasticcontainerservice.html).
   */
  private get runConditions(): Conditions {
    const { flavorsAllowed } = this.props;
    return {
      StringEqualsIfExists: { 'ecs:enable-execute-command': 'false', 'ecs:enable-ebs-volumes': 'false' },
      ...(flavorsAllowed && {
        NumericEquals: { 'ecs:task-cpu': flavorsAllowed.map((name) => String(cpuUnits[name])) },
      }),
    };
  }

  private get clusterEnv(): Permission<TaskVariables> {
    return env({ DEPLOYMENT: this.deployment, SANDBOX_CLUSTER: this.cluster.clusterArn });
  }

  private get inCluster() {
    return { ArnEquals: { 'ecs:cluster': this.cluster.clusterArn } };
  }

  private everyRevisionOf(family: string): string {
    return Stack.of(this).formatArn({
      service: 'ecs',
      resource: 'task-definition',
      resourceName: `${family}:*`,
    });
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
