/**
 * The id of the region's prefix list of S3, which a security group needs to name S3 and nothing else.
 *
 * CloudFormation does not tell it, and a lookup at synth would need credentials; so it is asked once at deploy.
 */
import { Validations } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { AwsCustomResource, AwsCustomResourcePolicy, PhysicalResourceId } from 'aws-cdk-lib/custom-resources';
import { Construct } from 'constructs';

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
    Validations.of(answer).acknowledge({
      id: 'AwsSolutions-IAM5[Resource::*]',
      reason: 'EC2 knows no resource for describing prefix lists; nothing else is allowed.',
    });
    this.prefixListId = answer.getResponseField('PrefixLists.0.PrefixListId');
  }
}
