/**
 * The role by which API Gateway writes logs: one per account and region, so one deployment of a region sets it.
 *
 * It stays when its stack goes, since others may write by it
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-logging.html).
 */
import { RemovalPolicy } from 'aws-cdk-lib';
import { CfnAccount } from 'aws-cdk-lib/aws-apigateway';
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';

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
