/**
 * What runs: the functions with their rights, the sandboxes they start, the WebSocket they answer on, what wakes
 * them, and where what they lose is kept.
 *
 * It needs the data and the network, and knows nothing of what stands before it: REST, MCP and the one origin
 * take its functions.
 */
import { CfnParameter, Duration } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { type Settings, sharedGuestPathOf } from '../settings.ts';
import { acknowledge } from './acknowledge.ts';
import { WakeUps } from './event-rules.ts';
import { logKeepingOf } from './log-group.ts';
import type { PlatformData } from './platform-data.ts';
import { HouseFunctions } from './platform-functions.ts';
import { SandboxCluster } from './sandbox-cluster.ts';
import type { SandboxNetwork } from './sandbox-network.ts';
import { RealtimeApi } from './socket-api.ts';

export type ControlPlaneProps = {
  readonly settings: Settings;
  readonly data: PlatformData;
  readonly network: SandboxNetwork;
  /** The SHA-256 of the admin token, in hexadecimal. Absent: a parameter of the stack, `AdminTokenSha256`. */
  readonly adminTokenHash?: string;
};

export class ControlPlane extends Construct {
  readonly functions: HouseFunctions;
  readonly socket: RealtimeApi;
  readonly cluster: SandboxCluster;
  /** Invocations of the turn that failed for good. */
  readonly lostTurns: Queue;
  /** Task state changes and wake-ups that were never handled, and calls of other functions that failed for good. */
  readonly lostEvents: Queue;

  constructor(scope: Construct, id: string, props: ControlPlaneProps) {
    super(scope, id);
    const { settings, data, network } = props;
    const logs = logKeepingOf(settings, data.encryptionKey);
    this.lostTurns = lostQueue(this, 'LostTurns');
    this.lostEvents = lostQueue(this, 'LostEvents');
    this.socket = new RealtimeApi(this, 'Socket', { ...settings, ...logs });
    this.cluster = new SandboxCluster(this, 'Sandboxes', {
      vpc: network.vpc,
      deployment: settings.deployment,
      flavorsAllowed: settings.flavorsAllowed,
      templates: settings.templates,
      sharedGuestPath: sharedGuestPathOf(settings),
    });
    this.functions = new HouseFunctions(this, 'Functions', {
      settings,
      adminTokenHash: props.adminTokenHash ?? this.addAdminTokenHash(),
      data,
      network,
      logs,
      sandboxes: this.cluster,
      door: this.socket,
      lostTurns: this.lostTurns,
      lostEvents: this.lostEvents,
    });
    this.socket.route({ authorizer: this.functions.authorizer.lambda, socket: this.functions.socket.lambda });
    new WakeUps(this, 'Default', {
      functions: this.functions,
      cluster: this.cluster.cluster,
      lostEvents: this.lostEvents,
    });
  }

  /** `--parameters <stack>:AdminTokenSha256=$(printf %s "$TOKEN" | sha256sum | cut -c1-64)` */
  private addAdminTokenHash(): string {
    const parameter = new CfnParameter(this, 'AdminTokenSha256', {
      description: 'The SHA-256 of the admin token, in hexadecimal; the token itself is stored nowhere',
      allowedPattern: '[0-9a-f]{64}',
      constraintDescription: '64 hexadecimal digits in lower case',
      noEcho: true,
    });
    return parameter.valueAsString;
  }
}

/** Where failed invocations end: a queue that nothing reads but a person, for as long as SQS keeps a message. */
/** The longest SQS keeps a message. */
const lostDaysMax = 14;

/**
 * Encrypted by SQS itself, whatever key the platform has: EventBridge and Lambda deliver here when all else has
 * failed, and a key's policy is one thing more that could then refuse.
 */
export const lostQueue = (scope: Construct, id: string): Queue => {
  const queue = new Queue(scope, id, {
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    retentionPeriod: Duration.days(lostDaysMax),
  });
  acknowledge(queue, 'SQS3', 'It is where failed invocations end: nothing reads it but a person.');
  return queue;
};
