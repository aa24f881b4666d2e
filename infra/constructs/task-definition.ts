/**
 * The ECS task definition of a sandbox, one per template: a container that runs untrusted code.
 *
 * It has no task role, no log driver, a read-only root, and only the capabilities to switch to the user and to end the
 * user's processes. RunTask adds size and bearer.
 */

import { posix } from 'node:path';
import { CfnDeletionPolicy, Duration } from 'aws-cdk-lib';
import type { IVpc } from 'aws-cdk-lib/aws-ec2';
import {
  Capability,
  type CfnTaskDefinition,
  type ContainerDefinition,
  CpuArchitecture,
  FargateTaskDefinition,
  LinuxParameters,
  OperatingSystemFamily,
} from 'aws-cdk-lib/aws-ecs';
import { Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { type SandboxImageProps, sandboxImage } from './assets.ts';
import { acknowledge } from './nag-exceptions.ts';
import { sandboxPort } from './security-groups.ts';

export type SandboxDefinitionProps = {
  /** Unique in an account and region. */
  readonly family: string;
  /** The network of the sandboxes. */
  readonly vpc: IVpc;
} & SandboxImageProps;

/** The smallest flavor; RunTask overrides it (`shared/domain/flavor.ts`). */
const taskCpuUnits = 512;
const taskMemoryMib = 1024;

/** From SIGTERM to SIGKILL: time to finish a checkpoint, and then to end user processes. */
const stopSecondsMax = 60;

/**
 * Docker's defaults without SETUID, SETGID, SETPCAP and KILL: Fargate adds no capability back, so "all" cannot be dropped.
 * With SETPCAP the launcher empties the bounding set of user code.
 */
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
  Capability.SYS_CHROOT,
];

/**
 * Writable folders on the task's own disk, deleted with it. The image's VOLUME decides their owner
 * (https://docs.aws.amazon.com/AmazonECS/latest/developerguide/bind-mounts.html).
 */
const writableFolders = { workspace: '/workspace', tmp: '/tmp', relay: '/run/sallyport' };

export const sandboxDefinition = (scope: Construct, props: SandboxDefinitionProps): FargateTaskDefinition => {
  const { template, family, sharedGuestPath } = props;
  const folders = foldersWith(sharedGuestPath);
  const definition = new FargateTaskDefinition(scope, template, {
    family,
    cpu: taskCpuUnits,
    memoryLimitMiB: taskMemoryMib,
    runtimePlatform: {
      cpuArchitecture: CpuArchitecture.ARM64,
      operatingSystemFamily: OperatingSystemFamily.LINUX,
    },
    volumes: Object.keys(folders).map((name) => ({ name })),
  });
  addContainer(scope, definition, props).addMountPoints(
    ...Object.entries(folders).map(([sourceVolume, containerPath]) => ({
      sourceVolume,
      containerPath,
      readOnly: false,
    })),
  );
  pullOnlyInside(definition, props.vpc);
  // The CDK always creates a task role: an identity that code in the sandbox could assume.
  const resource = definition.node.defaultChild as CfnTaskDefinition;
  resource.addPropertyDeletionOverride('TaskRoleArn');
  // Functions that still run the old code start the old revision; an inactive one cannot be started. Revisions are free.
  resource.cfnOptions.updateReplacePolicy = CfnDeletionPolicy.RETAIN;
  resource.cfnOptions.deletionPolicy = CfnDeletionPolicy.DELETE;
  definition.node.tryRemoveChild('TaskRole');
  return definition;
};

/**
 * A start may name any subnet of the account, also one with a route out; the image can be pulled in this VPC alone, so a
 * task elsewhere never runs (https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task_execution_IAM_role.html).
 */
const pullOnlyInside = (definition: FargateTaskDefinition, { vpcId }: IVpc): void =>
  definition.addToExecutionRolePolicy(
    new PolicyStatement({
      effect: Effect.DENY,
      // Fargate asks for a token from outside the VPC: that call cannot have the condition.
      actions: ['ecr:BatchCheckLayerAvailability', 'ecr:BatchGetImage', 'ecr:GetDownloadUrlForLayer'],
      resources: ['*'],
      conditions: { StringNotEquals: { 'aws:SourceVpc': vpcId } },
    }),
  );

/** The shared volume is on the task's own disk, too: the link downloads and uploads its files. */
const foldersWith = (sharedGuestPath: string | undefined): Readonly<Record<string, string>> =>
  sharedGuestPath === undefined ? writableFolders : { ...writableFolders, shared: sharedGuestPath };

const addContainer = (
  scope: Construct,
  definition: FargateTaskDefinition,
  { family: _, vpc: __, ...image }: SandboxDefinitionProps,
): ContainerDefinition => {
  const { template, sharedGuestPath } = image;
  const linuxParameters = new LinuxParameters(scope, `${template}-linux`, { initProcessEnabled: true });
  linuxParameters.dropCapabilities(...dropped);
  acknowledge(definition, 'ECS2', 'The variable holds the listening address, which is no secret.');
  acknowledge(
    definition,
    'ECS7',
    'A log driver needs a route out of the network; the link logs for the sandbox instead.',
  );
  acknowledge(
    definition.obtainExecutionRole(),
    'IAM5[Resource::*]',
    'ecr:GetAuthorizationToken has no resource; pulls are limited to the one repository.',
  );
  return definition.addContainer('sandbox', {
    image: sandboxImage(image),
    user: '0',
    readonlyRootFilesystem: true,
    linuxParameters,
    stopTimeout: Duration.seconds(stopSecondsMax),
    environment: {
      SANDBOX_LISTEN: `tcp://0.0.0.0:${sandboxPort}`,
      ...(sharedGuestPath === undefined ? {} : { SANDBOX_SHARED_PATH: sharedGuestPath }),
    },
  });
};

/** Paths at which a volume would hide a part of the sandbox. */
const taken = [
  ...Object.values(writableFolders),
  ...['/bin', '/dev', '/etc', '/lib', '/opt', '/proc', '/run', '/sbin', '/sys', '/usr', '/var'],
];

export const refuseGuestPath = (path: string | undefined): void => {
  if (path === undefined) return;
  if (path !== posix.resolve(path) || path === '/')
    throw new Error(
      `MSB_SHARED_VOLUME_GUEST_PATH=${path} is not plain: no dots, no slash at its end, not the root`,
    );
  const hidden = taken.find((folder) => path === folder || path.startsWith(`${folder}/`));
  if (hidden !== undefined) throw new Error(`MSB_SHARED_VOLUME_GUEST_PATH=${path} collides with ${hidden}`);
};
