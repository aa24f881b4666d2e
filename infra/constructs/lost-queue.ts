/** Where failed invocations end: a queue that nothing reads but a person, for as long as SQS keeps a message. */
import { Duration } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';

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
