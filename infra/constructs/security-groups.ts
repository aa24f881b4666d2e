/**
 * Security groups of the sandboxes' network: traffic is allowed between groups and never by address.
 *
 * A sandbox connects to the pull endpoints and S3, and accepts the link on one port; sandboxes cannot reach each other.
 */
import { Stack } from 'aws-cdk-lib';
import {
  type CfnSecurityGroup,
  type ISecurityGroup,
  type IVpc,
  Port,
  SecurityGroup,
} from 'aws-cdk-lib/aws-ec2';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { AwsCustomResource, AwsCustomResourcePolicy, PhysicalResourceId } from 'aws-cdk-lib/custom-resources';
import { Construct } from 'constructs';
import { addLogGroup, type LogOptions } from './log-group.ts';
import { acknowledgeCustomResource, acknowledgeWildcards } from './nag-exceptions.ts';

/** The port of the sandbox's server. */
export const sandboxPort = 8080;
const httpsPort = 443;

export type SandboxGroupsProps = {
  readonly vpc: IVpc;
  readonly logs: LogOptions;
  /** That of pull endpoints which are there already. Absent: a new one. */
  readonly endpointsGroupId?: string | undefined;
};

export class SandboxGroups extends Construct {
  readonly sandbox: SecurityGroup;
  readonly link: SecurityGroup;
  readonly endpoint: ISecurityGroup;

  constructor(scope: Construct, id: string, { vpc, logs, endpointsGroupId }: SandboxGroupsProps) {
    super(scope, id);
    const group = (name: string, description: string): SecurityGroup =>
      new SecurityGroup(this, name, { vpc, description, allowAllOutbound: false });
    this.sandbox = group('SandboxGroup', 'Sandboxes: pull their image, accept the link');
    this.link = group('LinkGroup', 'The link: connects to sandboxes and S3, accepts nothing');
    this.endpoint =
      endpointsGroupId === undefined
        ? group('EndpointGroup', 'The pull endpoints: accept sandboxes, connect to nothing')
        : SecurityGroup.fromSecurityGroupId(this, 'EndpointGroup', endpointsGroupId);
    this.addRules(logs);
  }

  private addRules(logs: LogOptions): void {
    const { region } = Stack.of(this);
    const s3 = new S3PrefixList(this, 'S3PrefixList', { region, logs });
    this.endpoint.addIngressRule(this.sandbox, Port.tcp(httpsPort), 'image pulls');
    this.sandbox.addIngressRule(this.link, Port.tcp(sandboxPort), 'requests to the sandbox');
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
        description: 'requests to the sandbox',
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
 * The id of the region's prefix list of S3, which a security group needs to allow S3 and nothing else. CloudFormation
 * does not offer it, and a lookup at synth would need credentials, so it is read at deploy.
 */
export type S3PrefixListProps = { readonly region: string; readonly logs: LogOptions };

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
      logGroup: addLogGroup(this, 'Logs', logs),
      policy: AwsCustomResourcePolicy.fromStatements([
        new PolicyStatement({ actions: ['ec2:DescribeManagedPrefixLists'], resources: ['*'] }),
      ]),
    });
    acknowledgeWildcards(
      answer,
      ['*'],
      'EC2 has no resource for describing prefix lists; nothing else is allowed.',
    );
    acknowledgeCustomResource(this);
    this.prefixListId = answer.getResponseField('PrefixLists.0.PrefixListId');
  }
}
