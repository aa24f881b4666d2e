/**
 * The whole platform as one construct, for an app and a stack of a team's own:
 *
 *   new SandboxPlatform(this, 'Sandboxes', {})
 *
 * Every setting has its default. The default app creates the same parts, each in a stack of its own. Alarms and the
 * dashboard belong to the default app; a team that embeds the platform monitors `plane` and `edge` with its own tools.
 */
import { Tags } from 'aws-cdk-lib';
import type { IVpc } from 'aws-cdk-lib/aws-ec2';
import { ManagedPolicy, PermissionsBoundary } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import { checkSettings, defaults, type Settings, sharedGuestPathOf } from '../settings.ts';
import { ControlPlane } from './control-plane.ts';
import { Edge } from './edge.ts';
import { networkOf } from './existing-network.ts';
import { ApiLogRole, logOptionsOf } from './log-group.ts';
import { PlatformData } from './platform-data.ts';
import { keyOf } from './platform-key.ts';
import { SandboxNetwork } from './sandbox-network.ts';

/** Account, region and bootstrap are those of the app's stack; alarms are the app's own. */
type SettingOfApp =
  | 'account'
  | 'region'
  | 'bootstrapQualifier'
  | 'alarmEmails'
  | 'alarmTopicArn'
  | 'runbookUrl';

export type SandboxPlatformProps = Partial<Omit<Settings, SettingOfApp>> & {
  /** A VPC of the app, for sandboxes alone: isolated subnets and nothing else. Absent: a new one. */
  readonly vpc?: IVpc;
  /** The operator's confirmation that a `vpc` which this app does not create has no route out. */
  readonly vpcIsIsolated?: boolean;
  /** A key of the app instead of that of `encryption`; its policy must allow CloudWatch Logs to use it. */
  readonly encryptionKey?: IKey;
  /** The SHA-256 of the admin token, in hexadecimal. Absent: a parameter of the stack. */
  readonly adminTokenHash?: string;
};

export class SandboxPlatform extends Construct {
  readonly data: PlatformData;
  readonly network: SandboxNetwork;
  readonly plane: ControlPlane;
  readonly edge: Edge;

  constructor(scope: Construct, id: string, props: SandboxPlatformProps = {}) {
    super(scope, id);
    const settings: Settings = { ...defaults, ...props };
    checkSettings(settings);
    const encryptionKey = props.encryptionKey ?? keyOf(this, settings.encryption);
    const logs = logOptionsOf(settings, encryptionKey);
    const hasSharedVolumes = sharedGuestPathOf(settings) !== undefined;
    this.data = new PlatformData(this, 'Data', {
      ...{ encryptionKey, hasSharedVolumes },
      sealLockDays: settings.seals?.objectLockDays,
    });
    const { workspaces } = this.data;
    const { deployment } = settings;
    const vpc = this.vpcOf(settings, props);
    this.network = new SandboxNetwork(this, 'Network', { ...vpc, workspaces, deployment, logs });
    const { data, network } = this;
    const { adminTokenHash } = props;
    this.plane = new ControlPlane(this, 'Plane', { settings, data, network, adminTokenHash });
    const { functions, socketApi } = this.plane;
    this.edge = new Edge(this, 'Edge', { settings, logs, functions, socketApi });
    if (settings.ownsApiLogRole !== false) this.dependOn(new ApiLogRole(this, 'Account', settings));
    this.mark(settings);
  }

  /** As `addSallyport` does it for its whole app. */
  private mark({ deployment, tags = {}, permissionsBoundaryArn }: Settings): void {
    for (const [key, value] of Object.entries({ ...tags, deployment })) Tags.of(this).add(key, value);
    if (permissionsBoundaryArn === undefined) return;
    const bound = ManagedPolicy.fromManagedPolicyArn(this, 'PermissionsBoundary', permissionsBoundaryArn);
    PermissionsBoundary.of(this).apply(bound);
  }

  private vpcOf({ network }: Settings, { vpc, vpcIsIsolated }: SandboxPlatformProps) {
    if (vpc === undefined) return networkOf(this, network);
    const { existing: _, ...own } = network;
    return { ...own, vpc, vpcIsIsolated };
  }

  /** API Gateway refuses a stage with logs until the account's role exists. */
  private dependOn(role: ApiLogRole): void {
    this.plane.socketApi.stage.node.addDependency(role);
    this.edge.restApi.api.deploymentStage.node.addDependency(role);
  }
}
