/**
 * Who may speak to whom in the sandboxes' network, by groups and never by addresses.
 *
 * A sandbox asks the pull endpoints and S3, and answers the link on one port; sandboxes do not hear each other.
 */
import { Stack } from 'aws-cdk-lib';
import { type CfnSecurityGroup, type IVpc, Port, SecurityGroup } from 'aws-cdk-lib/aws-ec2';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { AwsCustomResource, AwsCustomResourcePolicy, PhysicalResourceId } from 'aws-cdk-lib/custom-resources';
import { Construct } from 'constructs';
import { acknowledgeAsker, acknowledgeWildcards } from './acknowledge.ts';
import { keptLog, type LogKeeping } from './log-group.ts';

/** Where the sandbox's server listens. */
export const sandboxPort = 8080;
const httpsPort = 443;

export type SandboxGroupsProps = { readonly vpc: IVpc; readonly logs: LogKeeping };

export class SandboxGroups extends Construct {
  readonly sandbox: SecurityGroup;
  readonly link: SecurityGroup;
  readonly endpoint: SecurityGroup;

  constructor(scope: Construct, id: string, { vpc, logs }: SandboxGroupsProps) {
    super(scope, id);
    const group = (name: string, description: string): SecurityGroup =>
      new SecurityGroup(this, name, { vpc, description, allowAllOutbound: false });
    this.sandbox = group('SandboxGroup', 'Sandboxes: pull their image, answer the link');
    this.link = group('LinkGroup', 'The link: asks sandboxes and S3, answers nobody');
    this.endpoint = group('EndpointGroup', 'The pull endpoints: answer sandboxes, ask nobody');
    this.addRules(logs);
  }

  private addRules(logs: LogKeeping): void {
    const { region } = Stack.of(this);
    const s3 = new S3PrefixList(this, 'S3PrefixList', { region, logs });
    this.endpoint.addIngressRule(this.sandbox, Port.tcp(httpsPort), 'image pulls');
    this.sandbox.addIngressRule(this.link, Port.tcp(sandboxPort), 'the door');
    onlyTo(this.sandbox, [
      {
        ...tcp(httpsPort),
        destinationSecurityGroupId: this.endpoint.securityGroupId,
        description: 'image pulls',
      },
      { ...tcp(httpsPort), destinationPrefixListId: s3.prefixListId, description: 'image layers' },
    ]);
    onlyTo(this.link, [
      {
        ...tcp(sandboxPort),
        destinationSecurityGroupId: this.sandbox.securityGroupId,
        description: 'the door',
      },
      { ...tcp(httpsPort), destinationPrefixListId: s3.prefixListId, description: 'checkpoints' },
    ]);
  }
}

const tcp = (port: number) => ({ ipProtocol: 'tcp', fromPort: port, toPort: port });

/**
 * The rules inside a group replace the one EC2 gives every new group, which allows everything out; of rules
 * attached from outside the documentation does not say so
 * (https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-ec2-securitygroup.html).
 */
const onlyTo = (group: SecurityGroup, rules: readonly CfnSecurityGroup.EgressProperty[]): void => {
  (group.node.defaultChild as CfnSecurityGroup).securityGroupEgress = [...rules];
};

/**
 * The id of the region's prefix list of S3, which a security group needs to name S3 and nothing else.
 *
 * CloudFormation does not tell it, and a lookup at synth would need credentials; so it is asked once at deploy.
 */
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
