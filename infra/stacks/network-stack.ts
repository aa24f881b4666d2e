/**
 * The network of the sandboxes: isolated subnets with no way out, and one door in.
 *
 * No internet gateway, no NAT, no route but those inside the VPC and to S3 through an endpoint. Sandboxes
 * speak to the pull endpoints alone; the link speaks to sandboxes alone. Why: docs/adr/0005.
 */
import { Aws, Fn, RemovalPolicy, Stack } from 'aws-cdk-lib';
import {
  FlowLogDestination,
  FlowLogTrafficType,
  IpAddresses,
  Peer,
  Port,
  SecurityGroup,
  SubnetType,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { acknowledge } from '../constructs/acknowledge.ts';
import { PullEndpoints } from '../constructs/pull-endpoints.ts';
import { S3PrefixList } from '../constructs/s3-prefix-list.ts';
import { SandboxDns } from '../constructs/sandbox-dns.ts';
import type { Settings } from '../settings.ts';

/** Where the sandbox's server listens. */
export const sandboxPort = 8080;

const isolated = { subnetType: SubnetType.PRIVATE_ISOLATED };

export class NetworkStack extends Stack {
  readonly vpc: Vpc;
  readonly sandboxGroup: SecurityGroup;
  readonly linkGroup: SecurityGroup;

  constructor(scope: Construct, id: string, { settings }: { readonly settings: Settings }) {
    super(scope, id, { description: 'Sallyport: the network of the sandboxes' });
    this.vpc = this.addVpc(settings.network);
    const endpointGroup = this.addGroup(
      'EndpointGroup',
      'The pull endpoints: answers sandboxes, asks nobody',
    );
    this.sandboxGroup = this.addGroup('SandboxGroup', 'Sandboxes: pull their image, answer the link');
    this.linkGroup = this.addGroup('LinkGroup', 'The link: asks sandboxes, answers nobody');
    const s3 = new S3PrefixList(this, 'S3PrefixList', { region: this.region });
    this.sandboxGroup.connections.allowTo(endpointGroup, Port.tcp(443), 'image pulls');
    this.sandboxGroup.addEgressRule(Peer.prefixList(s3.prefixListId), Port.tcp(443), 'image layers');
    this.linkGroup.connections.allowTo(this.sandboxGroup, Port.tcp(sandboxPort), 'the door');
    new PullEndpoints(this, 'PullEndpoints', {
      vpc: this.vpc,
      subnets: isolated,
      securityGroup: endpointGroup,
    });
    new SandboxDns(this, 'Dns', { vpc: this.vpc });
    this.acknowledgeProviders();
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

  private addGroup(id: string, description: string): SecurityGroup {
    return new SecurityGroup(this, id, { vpc: this.vpc, description, allowAllOutbound: false });
  }
}
