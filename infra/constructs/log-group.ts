/** A log group as all of ours are: kept for as long as the settings say, under the platform's key, gone with its stack. */
import { RemovalPolicy } from 'aws-cdk-lib';
import { CfnAccount } from 'aws-cdk-lib/aws-apigateway';
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Settings } from '../settings.ts';
import { acknowledge } from './acknowledge.ts';

export type LogKeeping = {
  /** Absent: a month. */
  readonly logRetention?: RetentionDays;
  /** Absent: CloudWatch's own. Its policy must let CloudWatch Logs use it, as that of `PlatformKey` does. */
  readonly encryptionKey?: IKey;
};

type Log = LogKeeping & {
  /** Of a group that a service writes to by its name; absent: CloudFormation's choice. */
  readonly logGroupName?: string;
};

export const keptLog = (
  scope: Construct,
  id: string,
  { logRetention = RetentionDays.ONE_MONTH, encryptionKey, logGroupName }: Log,
): LogGroup =>
  new LogGroup(scope, id, {
    retention: logRetention,
    encryptionKey,
    logGroupName,
    removalPolicy: RemovalPolicy.DESTROY,
  });

export const logKeepingOf = ({ logDays }: Settings, encryptionKey: IKey | undefined): LogKeeping => ({
  logRetention: retentionOf(logDays),
  ...(encryptionKey === undefined ? {} : { encryptionKey }),
});

/** `logDays` of the settings, refused when CloudWatch Logs does not know it. */
const retentionOf = (logDays: number): RetentionDays => {
  if (RetentionDays[logDays] !== undefined && logDays !== RetentionDays.INFINITE) return logDays;
  const known = Object.values(RetentionDays).filter(
    (days) => typeof days === 'number' && days !== RetentionDays.INFINITE,
  );
  throw new Error(
    `infra/settings.ts: logDays=${logDays} is not allowed: set it to one of ${known.join(', ')}`,
  );
};

/**
 * The role by which API Gateway writes logs: one per account and region, so one deployment of a region sets it.
 *
 * It stays when its stack goes, since others may write by it
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-logging.html).
 */
const policy = 'service-role/AmazonAPIGatewayPushToCloudWatchLogs';

export class ApiLogRole extends Construct {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    const role = new Role(this, 'ApiLogRole', {
      assumedBy: new ServicePrincipal('apigateway.amazonaws.com'),
      managedPolicies: [ManagedPolicy.fromAwsManagedPolicyName(policy)],
    });
    role.applyRemovalPolicy(RemovalPolicy.RETAIN);
    acknowledge(
      role,
      `IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/${policy}]`,
      'API Gateway asks for this policy by name; it may only write logs.',
    );
    new CfnAccount(this, 'ApiAccount', { cloudWatchRoleArn: role.roleArn }).applyRemovalPolicy(
      RemovalPolicy.RETAIN,
    );
  }
}
