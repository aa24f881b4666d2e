/**
 * The stacks of the default app, parted by how often they change, from the lowest to the highest.
 *
 * Each holds one construct named `Default`, which adds nothing to the logical ids below it.
 */
import { Stack } from 'aws-cdk-lib';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { ControlPlane } from '../constructs/control-plane.ts';
import type { Front } from '../constructs/distribution.ts';
import { Edge } from '../constructs/edge.ts';
import { SyntheticCheck, WebhookSweep } from '../constructs/event-rules.ts';
import { existingVpc } from '../constructs/existing-network.ts';
import { ApiLogRole, logKeepingOf } from '../constructs/log-group.ts';
import { PlatformData } from '../constructs/platform-data.ts';
import type { HouseFunctions } from '../constructs/platform-functions.ts';
import { keyOf } from '../constructs/platform-key.ts';
import type { StreamedApi } from '../constructs/rest-api.ts';
import { SandboxNetwork } from '../constructs/sandbox-network.ts';
import type { RealtimeApi } from '../constructs/socket-api.ts';
import { FrontFirewall } from '../constructs/web-firewall.ts';
import { Observability } from '../observability/observability.ts';
import { cloudFrontRegion, type Settings, sharedGuestPathOf } from '../settings.ts';

/** Data that outlives every deploy, and the account's role for API logs. */
export class DataStack extends Stack {
  readonly data: PlatformData;

  constructor(scope: Construct, id: string, { settings }: { readonly settings: Settings }) {
    super(scope, id, { description: 'Sallyport: the table and what else is kept' });
    this.data = new PlatformData(this, 'Default', {
      encryptionKey: keyOf(this, settings.encryption),
      hasSharedVolumes: sharedGuestPathOf(settings) !== undefined,
    });
    if (settings.ownsApiLogRole) new ApiLogRole(this, 'Account');
  }
}

/** The network of the sandboxes, new or existing. */
export type NetworkStackProps = { readonly settings: Settings; readonly data: DataStack };

export class NetworkStack extends Stack {
  readonly network: SandboxNetwork;

  constructor(scope: Construct, id: string, { settings, data: { data } }: NetworkStackProps) {
    super(scope, id, { description: 'Sallyport: the network of the sandboxes' });
    const { existing, ...own } = settings.network;
    this.network = new SandboxNetwork(this, 'Default', {
      ...own,
      ...(existing === undefined
        ? {}
        : { vpc: existingVpc(this, 'Existing', existing), vpcIsIsolated: existing.isIsolated }),
      workspaces: data.workspaces,
      deployment: settings.deployment,
      logs: logKeepingOf(settings, data.encryptionKey),
    });
  }
}

/**
 * Functions, sandboxes, the WebSocket and the rules that invoke functions.
 *
 * The image belongs to the functions: they speak one protocol, and a task definition's new revision could not leave
 * a stack of its own while this one imports the old.
 */
export type ComputeStackProps = {
  readonly settings: Settings;
  readonly data: DataStack;
  readonly network: NetworkStack;
};

export class ComputeStack extends Stack {
  readonly functions: HouseFunctions;
  readonly socket: RealtimeApi;
  readonly lostTurns: Queue;
  readonly lostEvents: Queue;

  constructor(scope: Construct, id: string, { settings, data, network }: ComputeStackProps) {
    super(scope, id, { description: 'Sallyport: functions, sandboxes and the WebSocket' });
    // API Gateway refuses a stage with logs until the account's role exists.
    this.addStackDependency(data);
    const plane = new ControlPlane(this, 'Default', { settings, data: data.data, network: network.network });
    this.functions = plane.functions;
    this.socket = plane.socket;
    this.lostTurns = plane.lostTurns;
    this.lostEvents = plane.lostEvents;
  }
}

/** The public side: one CloudFront origin for the web app, the REST API with MCP, and the WebSocket. */
export type EdgeStackProps = {
  readonly settings: Settings;
  readonly data: DataStack;
  readonly compute: ComputeStack;
};

export class EdgeStack extends Stack {
  readonly door: StreamedApi;
  readonly front: Front;

  constructor(scope: Construct, id: string, { settings, data, compute }: EdgeStackProps) {
    super(scope, id, { description: 'Sallyport: REST, MCP, web app and the one origin' });
    const { functions, socket } = compute;
    const edge = new Edge(this, 'Default', {
      settings,
      logs: logKeepingOf(settings, data.data.encryptionKey),
      api: functions.api,
      mcp: functions.mcp,
      socket,
    });
    this.door = edge.door;
    this.front = edge.front;
    new WebhookSweep(this, 'WebhookSweep', { function: functions.webhooks, url: edge.url });
    new SyntheticCheck(this, 'SyntheticCheck', { settings, function: functions.synthetic, url: edge.url });
  }
}

/** The web firewall, in a stack of its own because CloudFront reads only firewalls of one region. */
export class FirewallStack extends Stack {
  constructor(scope: Construct, id: string, { settings }: { readonly settings: Settings }) {
    super(scope, id, {
      description: 'Sallyport: the web firewall before CloudFront',
      env: { region: cloudFrontRegion },
    });
    new FrontFirewall(this, 'Default', settings);
  }
}

/** Alarms and their topic, the dashboard and the saved queries. */
export type ObservabilityStackProps = {
  readonly settings: Settings;
  readonly data: DataStack;
  readonly compute: ComputeStack;
  readonly edge: EdgeStack;
};

export class ObservabilityStack extends Stack {
  constructor(scope: Construct, id: string, { settings, data, compute, edge }: ObservabilityStackProps) {
    super(scope, id, { description: 'Sallyport: alarms, dashboard and saved queries' });
    const { functions, socket, lostTurns, lostEvents } = compute;
    new Observability(this, 'Default', {
      deployment: settings.deployment,
      runbookUrl: settings.runbookUrl,
      topic: this.topicOf(settings),
      functions: functions.all,
      table: data.data.table,
      indexes: ['due', 'owner'],
      sockets: socket.api,
      requests: edge.door.api,
      lostTurns,
      lostEvents,
    });
  }

  private topicOf({ deployment, alarmTopicArn, alarmEmails }: Settings): ITopic {
    if (alarmTopicArn !== undefined) return Topic.fromTopicArn(this, 'Topic', alarmTopicArn);
    const topic = new Topic(this, 'Topic', { displayName: deployment, enforceSSL: true });
    for (const address of alarmEmails) topic.addSubscription(new EmailSubscription(address));
    return topic;
  }
}
