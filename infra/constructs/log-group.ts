/** Log groups with the retention of the settings under the platform's key, and the role by which API Gateway writes logs. */
import { CfnCondition, CfnParameter, type CfnResource, Fn, RemovalPolicy } from 'aws-cdk-lib';
import { CfnAccount } from 'aws-cdk-lib/aws-apigateway';
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Settings } from '../settings.ts';
import { acknowledge } from './nag-exceptions.ts';

export type LogOptions = {
  /** Absent: a month. */
  readonly logRetention?: RetentionDays;
  /** Absent: CloudWatch's own. Its policy must allow CloudWatch Logs to use it, as that of `PlatformKey` does. */
  readonly encryptionKey?: IKey;
};

type Log = LogOptions & {
  /** The name under which a service writes to the group; absent: CloudFormation chooses one. */
  readonly logGroupName?: string;
};

export const addLogGroup = (
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

export const logOptionsOf = ({ logDays }: Settings, encryptionKey: IKey | undefined): LogOptions => ({
  logRetention: retentionOf(logDays),
  ...(encryptionKey === undefined ? {} : { encryptionKey }),
});

/** `logDays` of the settings, refused unless CloudWatch Logs accepts it. */
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
 * The role by which API Gateway writes logs: one per account and region. Unless the settings decide, a parameter says whether
 * this deployment sets it. It outlives its stack, since other APIs may use it
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-logging.html).
 */
const apiLogRoleParameter = 'SetsApiLogRole';

const policy = 'service-role/AmazonAPIGatewayPushToCloudWatchLogs';

export class ApiLogRole extends Construct {
  constructor(scope: Construct, id: string, { ownsApiLogRole }: Pick<Settings, 'ownsApiLogRole'>) {
    super(scope, id);
    const role = new Role(this, 'ApiLogRole', {
      assumedBy: new ServicePrincipal('apigateway.amazonaws.com'),
      managedPolicies: [ManagedPolicy.fromAwsManagedPolicyName(policy)],
    });
    role.applyRemovalPolicy(RemovalPolicy.RETAIN);
    acknowledge(
      role,
      `IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/${policy}]`,
      'API Gateway requires this policy by name; it allows to write logs only.',
    );
    const account = new CfnAccount(this, 'ApiAccount', { cloudWatchRoleArn: role.roleArn });
    account.applyRemovalPolicy(RemovalPolicy.RETAIN);
    if (ownsApiLogRole === true) return;
    const condition = this.addChoice();
    for (const resource of [account, role.node.defaultChild as CfnResource])
      resource.cfnOptions.condition = condition;
  }

  /** `npm run deploy` reads the account and chooses. */
  private addChoice(): CfnCondition {
    const parameter = new CfnParameter(this, 'Choice', {
      description: 'Whether this deployment sets the role by which API Gateway writes logs',
      allowedValues: ['yes', 'no'],
      default: 'yes',
    });
    parameter.overrideLogicalId(apiLogRoleParameter);
    return new CfnCondition(this, 'IsOurs', {
      expression: Fn.conditionEquals(parameter.valueAsString, 'yes'),
    });
  }
}
