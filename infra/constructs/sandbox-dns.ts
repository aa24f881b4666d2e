/**
 * The DNS firewall: it resolves the names of an image pull and of S3, and no others, also when it fails.
 *
 * The VPC's resolver answers public names without an internet gateway and ignores security groups, so code
 * could carry data out in queries. AWS's own servers alone answer for the allowed names.
 */
import { Stack } from 'aws-cdk-lib';
import type { IVpc } from 'aws-cdk-lib/aws-ec2';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import {
  CfnFirewallDomainList,
  CfnFirewallRuleGroup,
  CfnFirewallRuleGroupAssociation,
} from 'aws-cdk-lib/aws-route53resolver';
import { AwsCustomResource, AwsCustomResourcePolicy, PhysicalResourceId } from 'aws-cdk-lib/custom-resources';
import { Construct } from 'constructs';
import { addLogGroup, type LogOptions } from './log-group.ts';
import { acknowledgeCustomResource, acknowledgeWildcards } from './nag-exceptions.ts';

/** Between 100 and 9900; the ends are AWS's own. */
const associationPriority = 101;

export type SandboxDnsProps = { readonly vpc: IVpc; readonly logs: LogOptions };

export class SandboxDns extends Construct {
  constructor(scope: Construct, id: string, { vpc, logs }: SandboxDnsProps) {
    super(scope, id);
    const allowed = new CfnFirewallDomainList(this, 'Allowed', { domains: names(Stack.of(this)) });
    const everything = new CfnFirewallDomainList(this, 'Everything', { domains: ['*'] });
    const rules = new CfnFirewallRuleGroup(this, 'Rules', {
      firewallRules: [
        {
          priority: 1,
          action: 'ALLOW',
          firewallDomainListId: allowed.attrId,
          // Names of S3 redirect to names outside the list.
          firewallDomainRedirectionAction: 'TRUST_REDIRECTION_DOMAIN',
        },
        {
          priority: 2,
          action: 'BLOCK',
          blockResponse: 'NXDOMAIN',
          firewallDomainListId: everything.attrId,
        },
      ],
    });
    new CfnFirewallRuleGroupAssociation(this, 'Association', {
      vpcId: vpc.vpcId,
      firewallRuleGroupId: rules.attrId,
      priority: associationPriority,
    });
    this.addFailClosed(vpc, logs);
  }

  /**
   * AWS's default, set again. CloudFormation documents a type for it that cfn-lint knows in no region, and every VPC has such a
   * configuration already, so the call itself is made.
   */
  private addFailClosed({ vpcId }: IVpc, logs: LogOptions): void {
    const call = {
      service: 'Route53Resolver',
      action: 'UpdateFirewallConfig',
      parameters: { ResourceId: vpcId, FirewallFailOpen: 'DISABLED' },
      physicalResourceId: PhysicalResourceId.of('fail-closed'),
      outputPaths: ['FirewallConfig.FirewallFailOpen'],
    };
    const actions = ['route53resolver:UpdateFirewallConfig', 'ec2:DescribeVpcs'];
    const closed = new AwsCustomResource(this, 'FailClosed', {
      onCreate: call,
      onUpdate: call,
      installLatestAwsSdk: false,
      logGroup: addLogGroup(this, 'Logs', logs),
      policy: AwsCustomResourcePolicy.fromStatements([new PolicyStatement({ actions, resources: ['*'] })]),
    });
    acknowledgeWildcards(
      closed,
      ['*'],
      'A configuration is named by an id that AWS makes, and describing VPCs has no resource.',
    );
    acknowledgeCustomResource(this);
  }
}

/**
 * The names that Fargate resolves during a pull (https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html),
 * and S3 itself: the link names its bucket in the path, so no bucket needs a name here.
 */
const names = ({ region, account, urlSuffix }: Stack): string[] => [
  `api.ecr.${region}.${urlSuffix}`,
  `${account}.dkr.ecr.${region}.${urlSuffix}`,
  `prod-${region}-starport-layer-bucket.s3.${region}.${urlSuffix}`,
  `s3.${region}.${urlSuffix}`,
];
