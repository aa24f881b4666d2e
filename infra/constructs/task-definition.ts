/**
 * A sandbox as ECS knows it, one definition per template: a container beside untrusted code.
 *
 * It has no role, no log driver, a read-only root, and of the capabilities only those to become the user and
 * to end its processes. Size and bearer are given per task.
 */

import { posix } from 'node:path';
import { Duration } from 'aws-cdk-lib';
import {
  Capability,
  type CfnTaskDefinition,
  type ContainerDefinition,
  CpuArchitecture,
  FargateTaskDefinition,
  LinuxParameters,
  OperatingSystemFamily,
} from 'aws-cdk-lib/aws-ecs';
import type { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';
import { sandboxImage } from './assets.ts';
import { sandboxPort } from './security-groups.ts';

export type Template = 'python' | 'node';

export type SandboxDefinitionProps = {
  readonly template: Template;
  readonly deployment: string;
  readonly baseImage?: string | undefined;
  readonly sharedGuestPath?: string | undefined;
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
export const writableFolders = { workspace: '/workspace', tmp: '/tmp', relay: '/run/sallyport' };
export const sandboxDefinition = (scope: Construct, props: SandboxDefinitionProps): FargateTaskDefinition => {
  const { template, deployment, sharedGuestPath } = props;
  const folders = foldersWith(sharedGuestPath);
  const definition = new FargateTaskDefinition(scope, template, {
    family: `${deployment}-${template}`,
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
  // CDK always makes a task role: an identity that code in the sandbox could take on.
  const resource = definition.node.defaultChild as CfnTaskDefinition;
  resource.addPropertyDeletionOverride('TaskRoleArn');
  definition.node.tryRemoveChild('TaskRole');
  return definition;
};

/** The shared volume lies on the task's own disk like the others: the link brings it and takes it away. */
const foldersWith = (sharedGuestPath: string | undefined): Readonly<Record<string, string>> =>
  sharedGuestPath === undefined ? writableFolders : { ...writableFolders, shared: sharedGuestPath };

const addContainer = (
  scope: Construct,
  definition: FargateTaskDefinition,
  { template, baseImage, sharedGuestPath }: SandboxDefinitionProps,
): ContainerDefinition => {
  const linuxParameters = new LinuxParameters(scope, `${template}-linux`, { initProcessEnabled: true });
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
    image: sandboxImage({ template, baseImage, sharedGuestPath }),
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

/** Where sandboxes may see a volume that they share: nowhere it would hide a part of the sandbox. */
/** Where a volume would hide a part of the sandbox. */
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
