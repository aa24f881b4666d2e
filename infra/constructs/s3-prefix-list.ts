/**
 * The id of the region's prefix list of S3, which a security group needs to name S3 and nothing else.
 *
 * CloudFormation does not tell it, and a lookup at synth would need credentials; so it is asked once at deploy.
 */
import { Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { AwsCustomResource, AwsCustomResourcePolicy, PhysicalResourceId } from 'aws-cdk-lib/custom-resources';
import { Construct } from 'constructs';
import { acknowledge, acknowledgeWildcards } from './acknowledge.ts';

export class S3PrefixList extends Construct {
  readonly prefixListId: string;

  constructor(scope: Construct, id: string, { region }: { readonly region: string }) {
    super(scope, id);
    const call = {
      service: 'EC2',
      action: 'DescribeManagedPrefixLists',
      parameters: { Filters: [{ Name: 'prefix-list-name', Values: [`com.amazonaws.${region}.s3`] }] },
      physicalResourceId: PhysicalResourceId.of('s3-prefix-list'),
      outputPaths: ['PrefixLists.0.PrefixListId'],
    };
    const answer = new AwsCustomResource(this, 'Answer', {
      onCreate: call,
      onUpdate: call,
      installLatestAwsSdk: false,
      policy: AwsCustomResourcePolicy.fromStatements([
        new PolicyStatement({ actions: ['ec2:DescribeManagedPrefixLists'], resources: ['*'] }),
      ]),
    });
    acknowledgeWildcards(
      answer,
      ['*'],
      'EC2 knows no resource for describing prefix lists; nothing else is allowed.',
    );
    acknowledge(
      Stack.of(this),
      `IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]`,
      'The function is made by the CDK, which gives it the right to write logs by the policy of that name.',
    );
    this.prefixListId = answer.getResponseField('PrefixLists.0.PrefixListId');
  }
}
