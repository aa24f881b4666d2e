/**
 * The id of the region's prefix list of S3, which a security group needs to name S3 and nothing else.
 *
 * CloudFormation does not tell it, and a lookup at synth would need credentials; so it is asked once at deploy.
 */
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { AwsCustomResource, AwsCustomResourcePolicy, PhysicalResourceId } from 'aws-cdk-lib/custom-resources';
import { Construct } from 'constructs';
import { acknowledgeAsker, acknowledgeWildcards } from './acknowledge.ts';
import { keptLog, type LogKeeping } from './kept-log.ts';

export type S3PrefixListProps = { readonly region: string; readonly logs: LogKeeping };

export class S3PrefixList extends Construct {
  readonly prefixListId: string;

  constructor(scope: Construct, id: string, { region, logs }: S3PrefixListProps) {
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
      logGroup: keptLog(this, 'Logs', logs),
      policy: AwsCustomResourcePolicy.fromStatements([
        new PolicyStatement({ actions: ['ec2:DescribeManagedPrefixLists'], resources: ['*'] }),
      ]),
    });
    acknowledgeWildcards(
      answer,
      ['*'],
      'EC2 knows no resource for describing prefix lists; nothing else is allowed.',
    );
    acknowledgeAsker(this);
    this.prefixListId = answer.getResponseField('PrefixLists.0.PrefixListId');
  }
}
