/**
 * The DNS of the sandboxes: the names an image pull needs, that of S3 for the link, and no others, also when
 * the firewall is down.
 *
 * The VPC's resolver answers public names without an internet gateway and ignores security groups, so code
 * could carry data out in questions. The names allowed here are asked of AWS's own servers alone.
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
          // Names of S3 lead on to names that are not in the list.
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
 * What Fargate asks for while it pulls (https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html),
 * and S3 itself: the link names its bucket in the path, so that no name of a bucket need be allowed.
 */
const names = ({ region, account, urlSuffix }: Stack): string[] => [
  `api.ecr.${region}.${urlSuffix}`,
  `${account}.dkr.ecr.${region}.${urlSuffix}`,
  `prod-${region}-starport-layer-bucket.s3.${region}.${urlSuffix}`,
  `s3.${region}.${urlSuffix}`,
];
