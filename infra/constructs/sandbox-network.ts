/**
 * The network of the sandboxes: isolated subnets without a route out, one port in, and a DNS firewall.
 *
 * No internet gateway, no NAT, no route but those inside the VPC and to S3 through an endpoint. Sandboxes
 * pull their image; the link connects to sandboxes and to the bucket of checkpoints. Why: docs/adr/0005.
 */
import { type CfnResource, Fn, Stack } from 'aws-cdk-lib';
import {
  FlowLogDestination,
  FlowLogTrafficType,
  IpAddresses,
  type ISecurityGroup,
  type IVpc,
  SubnetType,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import {
  CfnFirewallConfig,
  CfnFirewallDomainList,
  CfnFirewallRuleGroup,
  CfnFirewallRuleGroupAssociation,
} from 'aws-cdk-lib/aws-route53resolver';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { requireIsolation } from './existing-network.ts';
import { addLogGroup, type LogOptions } from './log-group.ts';
import { SandboxGroups } from './security-groups.ts';
import { PullEndpoints, StorageEndpoint } from './vpc-endpoints.ts';

export type SandboxNetworkProps = {
  /** The bucket of the checkpoints: only the link reaches it through the endpoint of S3. */
  readonly workspaces: IBucket;
  /** Absent: `sallyport`. */
  readonly deployment?: string;
  /** The address range of a new VPC. Absent: 10.77.0.0/16. */
  readonly cidr?: string;
  /** The zones of a new VPC, each billed with two interface endpoints. Absent: 1. */
  readonly zones?: number;
  /** A VPC for sandboxes alone, with isolated subnets and nothing else, instead of a new one. */
  readonly vpc?: IVpc;
  /** The operator's confirmation: routes out of a VPC that this app does not create are invisible here. */
  readonly vpcIsIsolated?: boolean;
  /** Absent: refused traffic, which is what a sandbox attempted. */
  readonly flowLogs?: 'refused' | 'all';
  readonly logs?: LogOptions;
};

const isolated = { subnetType: SubnetType.PRIVATE_ISOLATED };

export class SandboxNetwork extends Construct {
  readonly vpc: IVpc;
  readonly sandboxGroup: ISecurityGroup;
  readonly linkGroup: ISecurityGroup;
  /** The endpoint of S3 identifies the link by the path of its role, whose name is unknown before it is created. */
  readonly linkRolePath: string;

  constructor(scope: Construct, id: string, props: SandboxNetworkProps) {
    super(scope, id);
    const { workspaces, deployment = 'sallyport', vpcIsIsolated = false } = props;
    this.linkRolePath = `/${deployment}/sandbox-link/`;
    this.vpc = props.vpc ?? isolatedVpc(this, props);
    if (props.vpc !== undefined) requireIsolation(this, props.vpc, vpcIsIsolated);
    this.addFlowLog(props);
    const groups = new SandboxGroups(this, 'Default', { vpc: this.vpc, logs: props.logs ?? {} });
    this.sandboxGroup = groups.sandbox;
    this.linkGroup = groups.link;
    const subnets = { vpc: this.vpc, subnets: isolated };
    new PullEndpoints(this, 'PullEndpoints', { ...subnets, securityGroup: groups.endpoint });
    new StorageEndpoint(this, 'StorageEndpoint', { ...subnets, workspaces, linkRolePath: this.linkRolePath });
    new SandboxDns(this, 'Dns', { vpc: this.vpc });
  }

  private addFlowLog({ flowLogs = 'refused', logs = {} }: SandboxNetworkProps): void {
    this.vpc.addFlowLog('Refused', {
      trafficType: flowLogs === 'all' ? FlowLogTrafficType.ALL : FlowLogTrafficType.REJECT,
      destination: FlowLogDestination.toCloudWatchLogs(addLogGroup(this, 'RefusedTraffic', logs)),
    });
  }
}

/** A VPC of isolated subnets, with no gateway of any kind and an empty default security group. */
export type IsolatedVpcProps = {
  readonly cidr?: string;
  readonly zones?: number;
  readonly logs?: LogOptions;
};

/** The CDK's id for the function that empties the default group; there is one for each stack. */
const groupEmptier = 'Custom::VpcRestrictDefaultSGCustomResourceProvider';

export const isolatedVpc = (
  scope: Construct,
  { cidr = '10.77.0.0/16', zones = 1, logs = {} }: IsolatedVpcProps,
): Vpc => {
  const vpc = new Vpc(scope, 'Vpc', {
    ipAddresses: IpAddresses.cidr(cidr),
    availabilityZones: Array.from({ length: zones }, (_, zone) => Fn.select(zone, Fn.getAzs())),
    subnetConfiguration: [{ name: 'sandbox', subnetType: SubnetType.PRIVATE_ISOLATED }],
    natGateways: 0,
    createInternetGateway: false,
    restrictDefaultSecurityGroup: true,
  });
  const handler = Stack.of(scope).node.findChild(groupEmptier).node.findChild('Handler') as CfnResource;
  const { logGroupName } = addLogGroup(scope, 'VpcLogs', logs);
  handler.addPropertyOverride('LoggingConfig', { LogGroup: logGroupName });
  return vpc;
};

/** Between 100 and 9900; the ends are AWS's own. */
const associationPriority = 101;

/**
 * The DNS firewall: it resolves the names of an image pull and of S3, and no others, also when it fails.
 *
 * The VPC's resolver answers public names without an internet gateway and ignores security groups, so code
 * could carry data out in queries. AWS's own servers alone answer for the allowed names.
 */
class SandboxDns extends Construct {
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
