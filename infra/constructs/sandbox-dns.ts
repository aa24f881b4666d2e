/**
 * The DNS firewall of the sandboxes: it resolves the names of an image pull and of S3, and no others, also when it fails.
 *
 * The VPC's resolver answers public names without an internet gateway and ignores security groups, so code
 * could carry data out in queries. AWS's own servers alone answer for the allowed names.
 */
import { Stack } from 'aws-cdk-lib';
import type { IVpc } from 'aws-cdk-lib/aws-ec2';
import {
  CfnFirewallConfig,
  CfnFirewallDomainList,
  CfnFirewallRuleGroup,
  CfnFirewallRuleGroupAssociation,
} from 'aws-cdk-lib/aws-route53resolver';
import { Construct } from 'constructs';

/** Between 100 and 9900; the ends are AWS's own. */
const associationPriority = 101;

export class SandboxDns extends Construct {
  constructor(scope: Construct, id: string, { vpc }: { readonly vpc: IVpc }) {
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
    new CfnFirewallConfig(this, 'FailClosed', { resourceId: vpc.vpcId, firewallFailOpen: 'DISABLED' });
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
