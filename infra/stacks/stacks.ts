/**
 * The stacks of the default app, parted by how often they change, from the lowest to the highest.
 *
 * Each holds one construct named `Default`, which adds nothing to the logical ids below it.
 */
import { ArnFormat, Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
import { ControlPlane } from '../constructs/control-plane.ts';
import { Edge } from '../constructs/edge.ts';
import { isChecked } from '../constructs/event-rules.ts';
import { networkOf } from '../constructs/existing-network.ts';
import { ApiLogRole, logOptionsOf } from '../constructs/log-group.ts';
import { PlatformData } from '../constructs/platform-data.ts';
import { keyOf } from '../constructs/platform-key.ts';
import { SandboxNetwork } from '../constructs/sandbox-network.ts';
import { WebFirewall } from '../constructs/web-firewall.ts';
import { Observability } from '../observability/observability.ts';
import { cloudFrontRegion, type Settings, sharedGuestPathOf } from '../settings.ts';

/** Data that outlives every deploy, and the account's role for API logs. */
export class DataStack extends Stack {
  readonly data: PlatformData;

  constructor(scope: Construct, id: string, { settings }: { readonly settings: Settings }) {
    super(scope, id, { description: 'Sallyport: the table and other data that is retained' });
    this.data = new PlatformData(this, 'Default', {
      encryptionKey: keyOf(this, settings.encryption),
      hasSharedVolumes: sharedGuestPathOf(settings) !== undefined,
      sealLockDays: settings.seals?.objectLockDays,
    });
    if (settings.ownsApiLogRole !== false) new ApiLogRole(this, 'Account', settings);
  }
}

export type NetworkStackProps = { readonly settings: Settings; readonly data: DataStack };

/** The network of the sandboxes, new or existing. */
export class NetworkStack extends Stack {
  readonly network: SandboxNetwork;

  constructor(scope: Construct, id: string, { settings, data: { data } }: NetworkStackProps) {
    super(scope, id, { description: 'Sallyport: the network of the sandboxes' });
    this.network = new SandboxNetwork(this, 'Default', {
      ...networkOf(this, settings.network),
      workspaces: data.workspaces,
      deployment: settings.deployment,
      logs: logOptionsOf(settings, data.encryptionKey),
    });
  }
}

export type ComputeStackProps = NetworkStackProps & { readonly network: NetworkStack };

/**
 * Functions, sandboxes, the WebSocket and the rules that invoke functions.
 *
 * The image belongs to the functions: they speak one protocol, and both change in one update.
 */
export class ComputeStack extends Stack {
  readonly plane: ControlPlane;

  constructor(scope: Construct, id: string, { settings, data, network }: ComputeStackProps) {
    super(scope, id, { description: 'Sallyport: functions, sandboxes and the WebSocket' });
    // API Gateway refuses a stage with logs until the account's role exists.
    this.addStackDependency(data);
    this.plane = new ControlPlane(this, 'Default', { settings, data: data.data, network: network.network });
  }
}

export type EdgeStackProps = {
  readonly settings: Settings;
  readonly data: DataStack;
  readonly compute: ComputeStack;
};

/** The public side: one CloudFront origin for the web app, the REST API with MCP, and the WebSocket. */
export class EdgeStack extends Stack {
  readonly edge: Edge;

  constructor(scope: Construct, id: string, { settings, data, compute }: EdgeStackProps) {
    super(scope, id, { description: 'Sallyport: REST, MCP, web app and the one origin' });
    const logs = logOptionsOf(settings, data.data.encryptionKey);
    const { functions, socketApi } = compute.plane;
    this.edge = new Edge(this, 'Default', { settings, logs, functions, socketApi });
  }
}

/** The web firewall, in a stack of its own because CloudFront reads only firewalls of one region. */
export class FirewallStack extends Stack {
  constructor(scope: Construct, id: string, { settings }: { readonly settings: Settings }) {
    super(scope, id, {
      description: 'Sallyport: the web firewall in front of CloudFront',
      env: { region: cloudFrontRegion },
    });
    new WebFirewall(this, 'Default', settings);
  }
}

export type ObservabilityStackProps = EdgeStackProps & { readonly edge: EdgeStack };

/** Alarms and their topic, the dashboard and the saved queries. */
export class ObservabilityStack extends Stack {
  constructor(scope: Construct, id: string, { settings, data, compute, edge }: ObservabilityStackProps) {
    super(scope, id, { description: 'Sallyport: alarms, dashboard and saved queries' });
    const { functions, socketApi, deadLetterQueues, sealSweep } = compute.plane;
    new Observability(this, 'Default', {
      deployment: settings.deployment,
      runbookUrl: settings.runbookUrl,
      topic: this.topicOf(settings),
      functions: Object.values(functions),
      table: data.data.table,
      indexes: ['due', 'owner'],
      socketApi: socketApi.api,
      restApi: edge.edge.restApi.api,
      deadLetterQueues,
      sealSweep,
      isChecked: isChecked(settings),
    });
  }

  private topicOf({ deployment, alarmTopicArn, alarmEmails }: Settings): ITopic {
    const topic =
      alarmTopicArn === undefined
        ? this.addTopic(deployment)
        : Topic.fromTopicArn(this, 'Topic', alarmTopicArn);
    for (const address of alarmEmails) topic.addSubscription(new EmailSubscription(address));
    return topic;
  }

  private addTopic(deployment: string): ITopic {
    const topic = new Topic(this, 'Topic', { displayName: deployment, enforceSSL: true });
    topic.addToResourcePolicy(this.publishedByAlarms(topic, deployment));
    return topic;
  }

  /**
   * A topic with a policy of its own has lost the one by which alarms of the account publish
   * (https://repost.aws/knowledge-center/cloudwatch-receive-sns-for-alarm-trigger).
   */
  private publishedByAlarms({ topicArn }: ITopic, deployment: string): PolicyStatement {
    const alarms = this.formatArn({
      service: 'cloudwatch',
      resource: 'alarm',
      resourceName: `${deployment}-*`,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    return new PolicyStatement({
      sid: 'Alarms',
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['sns:Publish'],
      resources: [topicArn],
      conditions: {
        StringEquals: { 'aws:SourceAccount': this.account },
        ArnLike: { 'aws:SourceArn': alarms },
      },
    });
  }
}
