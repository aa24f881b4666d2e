/**
 * The network of the sandboxes: isolated subnets with no way out, and one door in.
 *
 * No internet gateway, no NAT, no route but those inside the VPC and to S3 through an endpoint. Sandboxes
 * pull their image; the link speaks to sandboxes and to the bucket of checkpoints. Why: docs/adr/0005.
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
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { demandIsolation } from './existing-network.ts';
import { keptLog, type LogKeeping } from './log-group.ts';
import { SandboxDns } from './sandbox-dns.ts';
import { SandboxGroups } from './security-groups.ts';
import { PullEndpoints, StorageEndpoint } from './vpc-endpoints.ts';

export type SandboxNetworkProps = {
  /** The bucket of the checkpoints, which the link alone reaches through the endpoint of S3. */
  readonly workspaces: IBucket;
  /** Absent: `sallyport`. */
  readonly deployment?: string;
  /** Of the VPC that is made. Absent: 10.77.0.0/16. */
  readonly cidr?: string;
  /** Of the VPC that is made, each with two interface endpoints to pay for. Absent: 1. */
  readonly zones?: number;
  /** A VPC for sandboxes alone, with isolated subnets and nothing else, instead of one that is made. */
  readonly vpc?: IVpc;
  /** That somebody looked: of a VPC that this app does not make, the ways out can not be seen. */
  readonly vpcIsIsolated?: boolean;
  /** Absent: what was refused, which is what a sandbox tried. */
  readonly flowLogs?: 'refused' | 'all';
  readonly logs?: LogKeeping;
};

const isolated = { subnetType: SubnetType.PRIVATE_ISOLATED };

export class SandboxNetwork extends Construct {
  readonly vpc: IVpc;
  readonly sandboxGroup: ISecurityGroup;
  readonly linkGroup: ISecurityGroup;
  /** The endpoint of S3 knows the link by the path of its role, whose name is not known before it is made. */
  readonly linkRolePath: string;

  constructor(scope: Construct, id: string, props: SandboxNetworkProps) {
    super(scope, id);
    const { workspaces, deployment = 'sallyport', vpcIsIsolated = false } = props;
    this.linkRolePath = `/${deployment}/sandbox-link/`;
    this.vpc = props.vpc ?? isolatedVpc(this, props);
    if (props.vpc !== undefined) demandIsolation(this, props.vpc, vpcIsIsolated);
    this.addFlowLog(props);
    const groups = new SandboxGroups(this, 'Default', { vpc: this.vpc, logs: props.logs ?? {} });
    this.sandboxGroup = groups.sandbox;
    this.linkGroup = groups.link;
    const place = { vpc: this.vpc, subnets: isolated };
    new PullEndpoints(this, 'PullEndpoints', { ...place, securityGroup: groups.endpoint });
    new StorageEndpoint(this, 'StorageEndpoint', { ...place, workspaces, linkRolePath: this.linkRolePath });
    new SandboxDns(this, 'Dns', { vpc: this.vpc });
  }

  private addFlowLog({ flowLogs = 'refused', logs = {} }: SandboxNetworkProps): void {
    this.vpc.addFlowLog('Refused', {
      trafficType: flowLogs === 'all' ? FlowLogTrafficType.ALL : FlowLogTrafficType.REJECT,
      destination: FlowLogDestination.toCloudWatchLogs(keptLog(this, 'RefusedTraffic', logs)),
    });
  }
}

/** A VPC of isolated subnets, with no gateway of any kind and an empty default security group. */
export type IsolatedVpcProps = {
  readonly cidr?: string;
  readonly zones?: number;
  readonly logs?: LogKeeping;
};

/** What the CDK calls the function that empties the group; there is one for each stack. */
const emptier = 'Custom::VpcRestrictDefaultSGCustomResourceProvider';

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
  const handler = Stack.of(scope).node.findChild(emptier).node.findChild('Handler') as CfnResource;
  const { logGroupName } = keptLog(scope, 'VpcLogs', logs);
  handler.addPropertyOverride('LoggingConfig', { LogGroup: logGroupName });
  return vpc;
};
