/**
 * The ARN of the web firewall, read at deploy from the region it has to live in.
 *
 * CloudFormation passes nothing between regions, and a stack that knows its region at synth could not be deployed
 * elsewhere by the same template.
 */
import { Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { AwsCustomResource, AwsCustomResourcePolicy, PhysicalResourceId } from 'aws-cdk-lib/custom-resources';
import { Construct } from 'constructs';
import { cloudFrontRegion } from '../settings.ts';
import { acknowledgeAsker } from './acknowledge.ts';
import { firewallParameter } from './front-firewall.ts';
import { keptLog, type LogKeeping } from './kept-log.ts';

export type FirewallArnProps = { readonly deployment: string; readonly logs: LogKeeping };

export class FirewallArn extends Construct {
  readonly arn: string;

  constructor(scope: Construct, id: string, { deployment, logs }: FirewallArnProps) {
    super(scope, id);
    const { partition, account } = Stack.of(this);
    const name = firewallParameter(deployment);
    const call = {
      service: 'SSM',
      action: 'GetParameter',
      parameters: { Name: name },
      region: cloudFrontRegion,
      physicalResourceId: PhysicalResourceId.of('front-firewall-arn'),
      outputPaths: ['Parameter.Value'],
    };
    const answer = new AwsCustomResource(this, 'Answer', {
      onCreate: call,
      onUpdate: call,
      installLatestAwsSdk: false,
      logGroup: keptLog(this, 'Logs', logs),
      policy: AwsCustomResourcePolicy.fromStatements([
        new PolicyStatement({
          actions: ['ssm:GetParameter'],
          resources: [`arn:${partition}:ssm:${cloudFrontRegion}:${account}:parameter${name}`],
        }),
      ]),
    });
    acknowledgeAsker(this);
    this.arn = answer.getResponseField('Parameter.Value');
  }
}
