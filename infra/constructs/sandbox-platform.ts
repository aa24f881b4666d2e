/**
 * The whole platform as one construct, for an app and a stack of a team's own:
 *
 *   new SandboxPlatform(this, 'Sandboxes', {})
 *
 * Every setting has its default. The default app makes the same parts, each in a stack of its own. Alarms and the
 * dashboard are the default app's; whoever embeds the platform watches `plane` and `edge` with what the team has.
 */
import type { IVpc } from 'aws-cdk-lib/aws-ec2';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import { checkSettings, defaults, type Settings, sharedGuestPathOf } from '../settings.ts';
import { ControlPlane } from './control-plane.ts';
import { Edge } from './edge.ts';
import { SyntheticCheck, WebhookSweep } from './event-rules.ts';
import { existingVpc } from './existing-network.ts';
import { ApiLogRole, logKeepingOf } from './log-group.ts';
import { PlatformData } from './platform-data.ts';
import { keyOf } from './platform-key.ts';
import { SandboxNetwork } from './sandbox-network.ts';

export type SandboxPlatformProps = Partial<Settings> & {
  /** A VPC of the app, for sandboxes alone: isolated subnets and nothing else. Absent: one is made. */
  readonly vpc?: IVpc;
  /** Of a `vpc` that the app does not make itself: that somebody looked for ways out, and there are none. */
  readonly vpcIsIsolated?: boolean;
  /** A key of the app, instead of what `encryption` says; CloudWatch Logs has to be allowed to use it. */
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
    const logs = logKeepingOf(settings, encryptionKey);
    const hasSharedVolumes = sharedGuestPathOf(settings) !== undefined;
    this.data = new PlatformData(this, 'Data', { encryptionKey, hasSharedVolumes });
    const { workspaces } = this.data;
    const { deployment } = settings;
    const place = this.placeOf(settings, props);
    this.network = new SandboxNetwork(this, 'Network', { ...place, workspaces, deployment, logs });
    const { data, network } = this;
    const { adminTokenHash } = props;
    this.plane = new ControlPlane(this, 'Plane', { settings, data, network, adminTokenHash });
    const { functions, socket } = this.plane;
    const { api, mcp } = functions;
    this.edge = new Edge(this, 'Edge', { settings, logs, api, mcp, socket });
    new WebhookSweep(this, 'WebhookSweep', { function: functions.webhooks, url: this.edge.url });
    new SyntheticCheck(this, 'SyntheticCheck', {
      settings,
      function: functions.synthetic,
      url: this.edge.url,
    });
    if (settings.ownsApiLogRole) this.logBy(new ApiLogRole(this, 'Account'));
  }

  private placeOf({ network }: Settings, { vpc, vpcIsIsolated }: SandboxPlatformProps) {
    const { existing, ...own } = network;
    if (vpc !== undefined) return { ...own, vpc, vpcIsIsolated };
    if (existing === undefined) return own;
    return { ...own, vpc: existingVpc(this, 'Existing', existing), vpcIsIsolated: existing.isIsolated };
  }

  /** API Gateway refuses a stage with logs until the account's role stands. */
  private logBy(role: ApiLogRole): void {
    this.plane.socket.stage.node.addDependency(role);
    this.edge.door.api.deploymentStage.node.addDependency(role);
  }
}
