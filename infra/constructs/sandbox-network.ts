/**
 * The network of the sandboxes: isolated subnets without a route out, one port in, and a DNS firewall.
 *
 * No internet gateway, no NAT, no route but those inside the VPC and to S3 through an endpoint. Sandboxes
 * pull their image; the link connects to sandboxes and to the bucket of checkpoints. Why: docs/adr/0005.
 */
import { CfnOutput, Stack } from 'aws-cdk-lib';
import {
  CfnSubnet,
  FlowLogDestination,
  FlowLogTrafficType,
  type ISecurityGroup,
  type ISubnet,
  type IVpc,
  SubnetType,
} from 'aws-cdk-lib/aws-ec2';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { requireIsolation } from './existing-network.ts';
import { isolatedVpc } from './isolated-vpc.ts';
import { addLogGroup, type LogOptions } from './log-group.ts';
import { SandboxDns } from './sandbox-dns.ts';
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
  /** Their ids (`use1-az4`), in the order in which they were added. Absent: parameters of the stack. */
  readonly zoneIds?: readonly string[];
  /** A VPC for sandboxes alone, with isolated subnets and nothing else, instead of a new one. */
  readonly vpc?: IVpc;
  /** The operator's confirmation: routes out of a VPC that this app does not create are invisible here. */
  readonly vpcIsIsolated?: boolean;
  /** The group of the pull endpoints of a `vpc` which is another deployment's: it has all that serves sandboxes already. */
  readonly endpointsGroupId?: string | undefined;
  /** Other deployments whose sandboxes are in this network too. */
  readonly sharedWith?: readonly string[];
  /** Absent: refused traffic, which is what a sandbox attempted. */
  readonly flowLogs?: 'refused' | 'all';
  readonly logs?: LogOptions;
};

/** A name with a pattern in it would admit roles of others. */
const linkRolePathOf = (deployment: string): string => {
  if (/^[a-zA-Z][a-zA-Z0-9-]*$/.test(deployment)) return `/${deployment}/sandbox-link/`;
  throw new Error(`infra/settings.ts: ${JSON.stringify(deployment)} is no name of a deployment`);
};

/** As EC2 says it of a new subnet: the zone that the CDK knows is one of the account's, and another than that of the subnet's id. */
const zoneOf = ({ availabilityZone, node: { defaultChild } }: ISubnet): string =>
  defaultChild instanceof CfnSubnet ? defaultChild.attrAvailabilityZone : availabilityZone;

const isolated = { subnetType: SubnetType.PRIVATE_ISOLATED };

export class SandboxNetwork extends Construct {
  readonly vpc: IVpc;
  readonly sandboxGroup: ISecurityGroup;
  readonly linkGroup: ISecurityGroup;
  /** The endpoint of S3 identifies the link by the path of its role, whose name is unknown before it is created. */
  readonly linkRolePath: string;

  constructor(scope: Construct, id: string, props: SandboxNetworkProps) {
    super(scope, id);
    const { deployment = 'sallyport', vpcIsIsolated = false, endpointsGroupId, logs = {} } = props;
    this.linkRolePath = linkRolePathOf(deployment);
    this.vpc = props.vpc ?? isolatedVpc(this, props);
    if (props.vpc !== undefined) requireIsolation(this, props.vpc, vpcIsIsolated);
    const groups = new SandboxGroups(this, 'Default', { vpc: this.vpc, logs, endpointsGroupId });
    this.sandboxGroup = groups.sandbox;
    this.linkGroup = groups.link;
    if (endpointsGroupId === undefined) this.addServices(groups.endpoint, props);
  }

  private addServices(securityGroup: ISecurityGroup, props: SandboxNetworkProps): void {
    const { vpc, linkRolePath } = this;
    const { workspaces, sharedWith = [], logs = {} } = props;
    this.addFlowLog(props);
    new PullEndpoints(this, 'PullEndpoints', { vpc, subnets: isolated, securityGroup });
    new StorageEndpoint(this, 'StorageEndpoint', {
      ...{ vpc, subnets: isolated, workspaces, linkRolePath },
      otherLinkRolePaths: sharedWith.map(linkRolePathOf),
    });
    new SandboxDns(this, 'Dns', { vpc, logs });
    if (sharedWith.length > 0) this.describe(securityGroup);
  }

  /** As the other deployments name it, in `network.existing`. */
  private describe({ securityGroupId: endpointsGroupId }: ISecurityGroup): void {
    const { vpcId, vpcCidrBlock: cidr, isolatedSubnets } = this.vpc;
    const subnetIds = isolatedSubnets.map(({ subnetId }) => subnetId);
    const routeTableIds = isolatedSubnets.map(({ routeTable }) => routeTable.routeTableId);
    const availabilityZones = isolatedSubnets.map(zoneOf);
    const existing = { vpcId, cidr, availabilityZones, subnetIds, routeTableIds, endpointsGroupId };
    new CfnOutput(this, 'Existing', {
      description: 'The value of network.existing for the deployments that share this network',
      value: Stack.of(this).toJsonString({ ...existing, isIsolated: true }),
    });
  }

  private addFlowLog({ flowLogs = 'refused', logs = {} }: SandboxNetworkProps): void {
    this.vpc.addFlowLog('Refused', {
      trafficType: flowLogs === 'all' ? FlowLogTrafficType.ALL : FlowLogTrafficType.REJECT,
      destination: FlowLogDestination.toCloudWatchLogs(addLogGroup(this, 'RefusedTraffic', logs)),
    });
  }
}
