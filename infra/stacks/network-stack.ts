/**
 * The network of the sandboxes: isolated subnets with no way out, and one door in.
 *
 * No internet gateway, no NAT, no route but those inside the VPC and to S3 through an endpoint. Sandboxes
 * pull their image; the link speaks to sandboxes and to the bucket of checkpoints. Why: docs/adr/0005.
 */
import { Fn, RemovalPolicy, Stack } from 'aws-cdk-lib';
import {
  type CfnSecurityGroup,
  FlowLogDestination,
  FlowLogTrafficType,
  IpAddresses,
  Port,
  SecurityGroup,
  SubnetType,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { PullEndpoints } from '../constructs/pull-endpoints.ts';
import { S3PrefixList } from '../constructs/s3-prefix-list.ts';
import { SandboxDns } from '../constructs/sandbox-dns.ts';
import { StorageEndpoint } from '../constructs/storage-endpoint.ts';
import type { Settings } from '../settings.ts';
import type { DataStack } from './data-stack.ts';

export type NetworkStackProps = { readonly settings: Settings; readonly data: DataStack };

/** Where the sandbox's server listens. */
export const sandboxPort = 8080;
const httpsPort = 443;

const isolated = { subnetType: SubnetType.PRIVATE_ISOLATED };

export class NetworkStack extends Stack {
  readonly vpc: Vpc;
  readonly sandboxGroup: SecurityGroup;
  readonly linkGroup: SecurityGroup;
  /** The endpoint of S3 knows the link by the path of its role, whose name is not known before it is made. */
  readonly linkRolePath: string;

  constructor(scope: Construct, id: string, { settings, data }: NetworkStackProps) {
    super(scope, id, { description: 'Sallyport: the network of the sandboxes' });
    this.linkRolePath = `/${settings.deployment}/sandbox-link/`;
    this.vpc = this.addVpc(settings.network);
    this.sandboxGroup = this.addGroup('SandboxGroup', 'Sandboxes: pull their image, answer the link');
    this.linkGroup = this.addGroup('LinkGroup', 'The link: asks sandboxes and S3, answers nobody');
    const endpointGroup = this.addGroup('EndpointGroup', 'The pull endpoints: answer sandboxes, ask nobody');
    this.addRules(endpointGroup);
    new PullEndpoints(this, 'PullEndpoints', {
      vpc: this.vpc,
      subnets: isolated,
      securityGroup: endpointGroup,
    });
    new StorageEndpoint(this, 'StorageEndpoint', {
      vpc: this.vpc,
      subnets: isolated,
      workspaces: data.workspaces,
      linkRolePath: this.linkRolePath,
    });
    new SandboxDns(this, 'Dns', { vpc: this.vpc });
  }

  private addVpc({ cidr, zones }: Settings['network']): Vpc {
    const vpc = new Vpc(this, 'Vpc', {
      ipAddresses: IpAddresses.cidr(cidr),
      availabilityZones: Array.from({ length: zones }, (_, zone) => Fn.select(zone, Fn.getAzs())),
      subnetConfiguration: [{ name: 'sandbox', ...isolated }],
      natGateways: 0,
      createInternetGateway: false,
      restrictDefaultSecurityGroup: true,
    });
    // What is refused is what a sandbox tried: worth keeping, and little.
    vpc.addFlowLog('Refused', {
      trafficType: FlowLogTrafficType.REJECT,
      destination: FlowLogDestination.toCloudWatchLogs(
        new LogGroup(this, 'RefusedTraffic', {
          retention: RetentionDays.ONE_MONTH,
          removalPolicy: RemovalPolicy.DESTROY,
        }),
      ),
    });
    return vpc;
  }

  private addRules(endpointGroup: SecurityGroup): void {
    const s3 = new S3PrefixList(this, 'S3PrefixList', { region: this.region });
    endpointGroup.addIngressRule(this.sandboxGroup, Port.tcp(httpsPort), 'image pulls');
    this.sandboxGroup.addIngressRule(this.linkGroup, Port.tcp(sandboxPort), 'the door');
    onlyTo(this.sandboxGroup, [
      {
        ...tcp(httpsPort),
        destinationSecurityGroupId: endpointGroup.securityGroupId,
        description: 'image pulls',
      },
      { ...tcp(httpsPort), destinationPrefixListId: s3.prefixListId, description: 'image layers' },
    ]);
    onlyTo(this.linkGroup, [
      {
        ...tcp(sandboxPort),
        destinationSecurityGroupId: this.sandboxGroup.securityGroupId,
        description: 'the door',
      },
      { ...tcp(httpsPort), destinationPrefixListId: s3.prefixListId, description: 'checkpoints' },
    ]);
  }

  private addGroup(id: string, description: string): SecurityGroup {
    return new SecurityGroup(this, id, { vpc: this.vpc, description, allowAllOutbound: false });
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
