/**
 * The sandboxes as ECS knows them: one cluster, one task definition per template, and who may run them.
 *
 * A container beside untrusted code has no role, no log driver, a read-only root, and of the capabilities
 * only those to become the user and to end its processes. Size and bearer are given per task.
 */
import { posix } from 'node:path';
import { ArnFormat, Duration, Stack } from 'aws-cdk-lib';
import type { Vpc } from 'aws-cdk-lib/aws-ec2';
import {
  Capability,
  type CfnTaskDefinition,
  Cluster,
  type ContainerDefinition,
  CpuArchitecture,
  FargateTaskDefinition,
  LinuxParameters,
  OperatingSystemFamily,
} from 'aws-cdk-lib/aws-ecs';
import { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';
import { all, knowing, may, type Need } from './need.ts';
import { bundleSandbox, sandboxImage } from './sandbox-image.ts';

export type SandboxTasksProps = {
  readonly vpc: Vpc;
  readonly deployment: string;
  readonly port: number;
  /** Where the volume is that sandboxes of one owner share; absent without one. */
  readonly sharedGuestPath?: string | undefined;
};

type DeploymentVariables = { readonly DEPLOYMENT: string };
type TaskVariables = DeploymentVariables & { readonly SANDBOX_CLUSTER: string };
type RunVariables = TaskVariables & {
  readonly SANDBOX_TASK_PYTHON: string;
  readonly SANDBOX_TASK_NODE: string;
};

/** The smallest flavor; RunTask overrides it (`shared/domain/flavor.ts`). */
const taskCpuUnits = 512;
const taskMemoryMib = 1024;

/** From SIGTERM to SIGKILL: time for a checkpoint under way, and for user processes to end behind it. */
const stopSecondsMax = 60;

/** Docker's defaults but SETUID, SETGID and KILL: Fargate can add none of them back, so "all" can not be dropped. */
const dropped = [
  Capability.AUDIT_WRITE,
  Capability.CHOWN,
  Capability.DAC_OVERRIDE,
  Capability.FOWNER,
  Capability.FSETID,
  Capability.MKNOD,
  Capability.NET_BIND_SERVICE,
  Capability.NET_RAW,
  Capability.SETFCAP,
  Capability.SETPCAP,
  Capability.SYS_CHROOT,
];

/**
 * Writable, on the task's own disk, and gone with it. Whose they are is said by the image's VOLUME
 * (https://docs.aws.amazon.com/AmazonECS/latest/developerguide/bind-mounts.html).
 */
const writableFolders = { workspace: '/workspace', tmp: '/tmp', relay: '/run/sallyport' };
/** Where a volume would hide a part of the sandbox. */
const taken = [
  ...Object.values(writableFolders),
  ...['/bin', '/dev', '/etc', '/lib', '/opt', '/proc', '/run', '/sbin', '/sys', '/usr', '/var'],
];

export class SandboxTasks extends Construct {
  readonly cluster: Cluster;
  private readonly definitions: {
    readonly python: FargateTaskDefinition;
    readonly node: FargateTaskDefinition;
  };
  private readonly props: SandboxTasksProps;

  constructor(scope: Construct, id: string, props: SandboxTasksProps) {
    super(scope, id);
    this.props = props;
    refuseGuestPath(props.sharedGuestPath);
    this.cluster = new Cluster(this, 'Cluster', { vpc: props.vpc });
    acknowledge(
      this.cluster,
      'ECS4',
      'Container Insights bills every task; what happens to sandboxes is counted by the platform.',
    );
    bundleSandbox(Stack.of(this));
    this.definitions = { python: this.define('python'), node: this.define('node') };
  }

  /** To tell our tasks from others, without a right. */
  get knowing(): Need<DeploymentVariables> {
    return knowing({ DEPLOYMENT: this.props.deployment });
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
          conditions: this.inCluster,
        },
        {
          actions: ['iam:PassRole'],
          resources: [python.obtainExecutionRole().roleArn, node.obtainExecutionRole().roleArn],
          conditions: { StringEquals: { 'iam:PassedToService': 'ecs-tasks.amazonaws.com' } },
        },
      ),
    );
  }

  private get knowingCluster(): Need<TaskVariables> {
    return all(this.knowing, knowing({ SANDBOX_CLUSTER: this.cluster.clusterArn }));
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

  /** The shared volume lies on the task's own disk like the others: the link brings it and takes it away. */
  private get folders(): Readonly<Record<string, string>> {
    const { sharedGuestPath } = this.props;
    return sharedGuestPath === undefined ? writableFolders : { ...writableFolders, shared: sharedGuestPath };
  }

  private define(template: 'python' | 'node'): FargateTaskDefinition {
    const definition = new FargateTaskDefinition(this, template, {
      family: `${this.props.deployment}-${template}`,
      cpu: taskCpuUnits,
      memoryLimitMiB: taskMemoryMib,
      runtimePlatform: {
        cpuArchitecture: CpuArchitecture.ARM64,
        operatingSystemFamily: OperatingSystemFamily.LINUX,
      },
      volumes: Object.keys(this.folders).map((name) => ({ name })),
    });
    this.addContainer(definition, template).addMountPoints(
      ...Object.entries(this.folders).map(([sourceVolume, containerPath]) => ({
        sourceVolume,
        containerPath,
        readOnly: false,
      })),
    );
    // CDK always makes a task role: an identity that code in the sandbox could take on.
    const resource = definition.node.defaultChild as CfnTaskDefinition;
    resource.addPropertyDeletionOverride('TaskRoleArn');
    definition.node.tryRemoveChild('TaskRole');
    return definition;
  }

  private addContainer(definition: FargateTaskDefinition, template: string): ContainerDefinition {
    const { port, sharedGuestPath } = this.props;
    const linuxParameters = new LinuxParameters(this, `${template}-linux`, { initProcessEnabled: true });
    linuxParameters.dropCapabilities(...dropped);
    acknowledge(definition, 'ECS2', 'The variable says where to listen, which is no secret.');
    acknowledge(
      definition,
      'ECS7',
      'A log driver needs a way out of the network; a sandbox is read through the link instead.',
    );
    acknowledge(
      definition.obtainExecutionRole(),
      'IAM5[Resource::*]',
      'ecr:GetAuthorizationToken knows no resource; pulls are limited to the one repository.',
    );
    return definition.addContainer('sandbox', {
      image: sandboxImage(template, sharedGuestPath),
      user: '0',
      readonlyRootFilesystem: true,
      linuxParameters,
      stopTimeout: Duration.seconds(stopSecondsMax),
      environment: {
        SANDBOX_LISTEN: `tcp://0.0.0.0:${port}`,
        ...(sharedGuestPath === undefined ? {} : { SANDBOX_SHARED_PATH: sharedGuestPath }),
      },
    });
  }
}

const refuseGuestPath = (path: string | undefined): void => {
  if (path === undefined) return;
  if (path !== posix.resolve(path) || path === '/')
    throw new Error(
      `MSB_SHARED_VOLUME_GUEST_PATH=${path} is not plain: no dots, no slash at its end, not the root`,
    );
  const hidden = taken.find((folder) => path === folder || path.startsWith(`${folder}/`));
  if (hidden !== undefined) throw new Error(`MSB_SHARED_VOLUME_GUEST_PATH=${path} collides with ${hidden}`);
};
