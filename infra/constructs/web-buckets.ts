/**
 * The web app, and who asked for it: two buckets that stay with their stack's end, under S3's own keys.
 *
 * What CloudFront shows to everybody needs no key of the account, and S3 delivers access logs under no other
 * (https://docs.aws.amazon.com/AmazonS3/latest/userguide/enable-server-access-logging.html).
 */
import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';

const logDays = 90;

const closed = {
  encryption: BucketEncryption.S3_MANAGED,
  enforceSSL: true,
  blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
  removalPolicy: RemovalPolicy.RETAIN,
};

export const accessLogs = (scope: Construct, id: string): Bucket => {
  const logs = new Bucket(scope, id, {
    ...closed,
    // CloudFront delivers its logs by access control list.
    objectOwnership: ObjectOwnership.BUCKET_OWNER_PREFERRED,
    lifecycleRules: [{ expiration: Duration.days(logDays) }],
  });
  acknowledge(logs, 'S1', 'It is where the access logs go.');
  return logs;
};

export const webBucket = (scope: Construct, id: string, logs: Bucket): Bucket =>
  new Bucket(scope, id, {
    ...closed,
    objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
    serverAccessLogsBucket: logs,
    serverAccessLogsPrefix: 'web/',
  });
