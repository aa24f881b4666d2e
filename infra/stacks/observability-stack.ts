/** What an operator sees: the alarms, who is told of them, the dashboard and the saved queries. */
import { Stack } from 'aws-cdk-lib';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
import { Observability } from '../observability/observability.ts';
import type { Settings } from '../settings.ts';
import type { ComputeStack } from './compute-stack.ts';
import type { DataStack } from './data-stack.ts';
import type { EdgeStack } from './edge-stack.ts';

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
    // Named so that it adds nothing to the names of what is in it.
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
