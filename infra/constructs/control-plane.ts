/**
 * The control plane: the functions with their permissions, the sandboxes that they start, the WebSocket, the rules that
 * invoke functions, and the dead-letter queues.
 *
 * It needs the data and the network, and knows nothing of the public side: REST, MCP and the distribution take its
 * functions.
 */
import { CfnParameter, Duration } from 'aws-cdk-lib';
import type { IRule } from 'aws-cdk-lib/aws-events';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { namedTemplatesOf, type Settings, sharedGuestPathOf } from '../settings.ts';
import { SystemRules } from './event-rules.ts';
import { logOptionsOf } from './log-group.ts';
import { acknowledge } from './nag-exceptions.ts';
import type { DeadLetterQueues } from './permission-catalog.ts';
import type { PlatformData } from './platform-data.ts';
import { addPlatformFunctions, type PlatformFunctions } from './platform-functions.ts';
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
  readonly functions: PlatformFunctions;
  readonly socketApi: RealtimeApi;
  readonly cluster: SandboxCluster;
  readonly deadLetterQueues: DeadLetterQueues;
  /** Has the audit log sealed. */
  readonly sealSweep: IRule;

  constructor(scope: Construct, id: string, props: ControlPlaneProps) {
    super(scope, id);
    const { settings, data, network } = props;
    const logs = logOptionsOf(settings, data.encryptionKey);
    this.deadLetterQueues = {
      turns: addDeadLetterQueue(this, 'TurnDeadLetters'),
      events: addDeadLetterQueue(this, 'EventDeadLetters'),
    };
    this.socketApi = new RealtimeApi(this, 'Socket', { ...settings, ...logs });
    this.cluster = new SandboxCluster(this, 'Sandboxes', {
      vpc: network.vpc,
      deployment: settings.deployment,
      flavorsAllowed: settings.flavorsAllowed,
      templates: settings.templates,
      namedTemplates: namedTemplatesOf(settings),
      sharedGuestPath: sharedGuestPathOf(settings),
    });
    this.functions = addPlatformFunctions(this, 'Functions', {
      settings,
      adminTokenHash: props.adminTokenHash ?? this.addAdminTokenHash(),
      data,
      network,
      logs,
      sandboxes: this.cluster,
      socketApi: this.socketApi,
      deadLetterQueues: this.deadLetterQueues,
    });
    const { authorizer, socket } = this.functions;
    this.socketApi.route({
      authorizer: authorizer.lambda,
      socket: socket.lambda,
      isKeyed: settings.firewall,
    });
    const rules = new SystemRules(this, 'Default', {
      functions: this.functions,
      cluster: this.cluster.cluster,
      deadLetterQueue: this.deadLetterQueues.events,
    });
    this.sealSweep = rules.sealSweep;
  }

  /** `--parameters <stack>:AdminTokenSha256=$(printf %s "$TOKEN" | sha256sum | cut -c1-64)` */
  private addAdminTokenHash(): string {
    const parameter = new CfnParameter(this, 'AdminTokenSha256', {
      description: 'The SHA-256 of the admin token, in hexadecimal; the token itself is not stored',
      allowedPattern: '[0-9a-f]{64}',
      constraintDescription: '64 hexadecimal digits in lower case',
      noEcho: true,
    });
    return parameter.valueAsString;
  }
}

/** SQS retains a message no longer than this. */
const retentionDaysMax = 14;

/**
 * A dead-letter queue, read by people alone. SQS encrypts it with its own key, also where the platform has one:
 * EventBridge and Lambda deliver here after everything else has failed, and a key's policy could refuse them.
 */
const addDeadLetterQueue = (scope: Construct, id: string): Queue => {
  const queue = new Queue(scope, id, {
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    retentionPeriod: Duration.days(retentionDaysMax),
  });
  acknowledge(queue, 'SQS3', 'It is a dead-letter queue itself.');
  return queue;
};
