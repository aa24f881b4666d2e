import { App, Stack } from 'aws-cdk-lib';
import {
  CfnEgressOnlyInternetGateway,
  CfnInternetGateway,
  CfnNatGateway,
  CfnRoute,
  CfnTransitGatewayAttachment,
  CfnVPCGatewayAttachment,
  CfnVPCPeeringConnection,
  type IVpc,
  SubnetType,
  Vpc,
  type VpcProps,
} from 'aws-cdk-lib/aws-ec2';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { describe, expect, test } from 'vitest';
import type { Settings } from '../settings.ts';
import { named, ofType, synthesise } from '../stacks/synthesise.ts';
import { SandboxNetwork, type SandboxNetworkProps } from './sandbox-network.ts';

const vpcId = 'vpc-0a0a0a0a0a0a0a0a0';

type Place = { readonly stack: Stack; readonly vpc: IVpc };
type Case = Omit<SandboxNetworkProps, 'workspaces' | 'vpc'> & {
  readonly vpc: (stack: Stack) => IVpc;
  readonly alter?: (place: Place) => void;
};

const synth = ({ vpc: make, alter, ...props }: Case) => {
  const app = new App();
  const stack = new Stack(app, 'team');
  const vpc = make(stack);
  new SandboxNetwork(stack, 'Network', { ...props, vpc, workspaces: new Bucket(stack, 'Workspaces') });
  alter?.({ stack, vpc });
  return app.synth().getStackByName('team').template;
};

const subnets = (...types: readonly SubnetType[]): VpcProps => ({
  natGateways: types.includes(SubnetType.PRIVATE_WITH_EGRESS) ? 1 : 0,
  subnetConfiguration: types.map((subnetType) => ({ name: subnetType.toLowerCase(), subnetType })),
});
const isolated = (stack: Stack): Vpc => new Vpc(stack, 'Vpc', subnets(SubnetType.PRIVATE_ISOLATED));

test('a VPC of the app with only isolated subnets is accepted', () => {
  const template = synth({ vpc: isolated });
  expect(ofType(template, 'AWS::EC2::VPC')).toHaveLength(1);
  expect(ofType(template, 'AWS::EC2::VPCEndpoint')).toHaveLength(3);
  expect(ofType(template, 'AWS::Route53Resolver::FirewallRuleGroupAssociation')).toHaveLength(1);
});

describe('refused at once', () => {
  test('is a VPC with a public subnet', () => {
    const vpc = (stack: Stack) =>
      new Vpc(stack, 'Vpc', subnets(SubnetType.PUBLIC, SubnetType.PRIVATE_ISOLATED));
    expect(() => synth({ vpc })).toThrow(
      'the VPC team/Vpc cannot hold sandboxes: its subnet publicSubnet1 is public; its subnet publicSubnet2 is public',
    );
  });

  test('is a VPC with a NAT, and without an isolated subnet', () => {
    const vpc = (stack: Stack) =>
      new Vpc(stack, 'Vpc', { maxAzs: 1, ...subnets(SubnetType.PUBLIC, SubnetType.PRIVATE_WITH_EGRESS) });
    expect(() => synth({ vpc })).toThrow(
      'its subnet publicSubnet1 is public; its subnet privateSubnet1 has a route out; it has no isolated subnet',
    );
  });

  const found = (stack: Stack): IVpc =>
    Vpc.fromVpcAttributes(stack, 'Vpc', {
      vpcId,
      vpcCidrBlock: '10.1.0.0/16',
      availabilityZones: ['a'],
      isolatedSubnetIds: ['subnet-1'],
      isolatedSubnetRouteTableIds: ['rtb-1'],
    });

  test('is a VPC outside of the app without the operator’s confirmation', () => {
    expect(() => synth({ vpc: found })).toThrow(
      'this app does not create it, so its route tables, gateways and peerings are invisible: check them, then set vpcIsIsolated',
    );
    const template = synth({ vpc: found, vpcIsIsolated: true });
    expect(ofType(template, 'AWS::EC2::VPC')).toEqual([]);
    expect(ofType(template, 'AWS::EC2::SecurityGroup').map(({ Properties }) => Properties.VpcId)).toEqual([
      vpcId,
      vpcId,
      vpcId,
    ]);
  });
});

describe('refused at synth, wherever in the app it is defined, is', () => {
  const gateway = (stack: Stack): string => new CfnInternetGateway(stack, 'Gateway').ref;
  const first = ({ vpc }: Place) => vpc.isolatedSubnets[0] as NonNullable<IVpc['isolatedSubnets'][0]>;

  test.each<[string, (place: Place) => void]>([
    [
      'an internet gateway',
      ({ stack, vpc }) =>
        void new CfnVPCGatewayAttachment(stack, 'Out', {
          vpcId: vpc.vpcId,
          internetGatewayId: gateway(stack),
        }),
    ],
    [
      'a route',
      (place) =>
        void new CfnRoute(place.stack, 'Out', {
          routeTableId: first(place).routeTable.routeTableId,
          destinationCidrBlock: '0.0.0.0/0',
          gatewayId: gateway(place.stack),
        }),
    ],
    ['a NAT', (place) => void new CfnNatGateway(place.stack, 'Out', { subnetId: first(place).subnetId })],
    [
      'a peering from it',
      ({ stack, vpc }) =>
        void new CfnVPCPeeringConnection(stack, 'Out', {
          vpcId: vpc.vpcId,
          peerVpcId: 'vpc-0b0b0b0b0b0b0b0b0',
        }),
    ],
    [
      'a peering to it',
      ({ stack, vpc }) =>
        void new CfnVPCPeeringConnection(stack, 'Out', {
          vpcId: 'vpc-0b0b0b0b0b0b0b0b0',
          peerVpcId: vpc.vpcId,
        }),
    ],
    [
      'an egress-only gateway',
      ({ stack, vpc }) => void new CfnEgressOnlyInternetGateway(stack, 'Out', { vpcId: vpc.vpcId }),
    ],
    [
      'a transit gateway',
      (place) =>
        void new CfnTransitGatewayAttachment(place.stack, 'Out', {
          vpcId: place.vpc.vpcId,
          subnetIds: [first(place).subnetId],
          transitGatewayId: 'tgw-1',
        }),
    ],
    [
      'a gateway in another stack',
      ({ stack, vpc }) =>
        void new CfnVPCGatewayAttachment(new Stack(stack.node.root, 'other'), 'Out', {
          vpcId: vpc.vpcId,
          internetGatewayId: 'igw-1',
        }),
    ],
  ])('%s', (_, alter) => {
    expect(() => synth({ vpc: isolated, alter })).toThrow(/Out leads out of the sandboxes' VPC team\/Vpc/);
  });

  test('a route out of another VPC is allowed', () => {
    const alter = ({ stack }: Place) => void new Vpc(stack, 'Other');
    expect(() => synth({ vpc: isolated, alter })).not.toThrow();
  });
});

describe('named in the settings', () => {
  const existing = {
    vpcId,
    cidr: '10.1.0.0/16',
    availabilityZones: ['eu-central-1a', 'eu-central-1b'],
    subnetIds: ['subnet-1', 'subnet-2'],
    routeTableIds: ['rtb-1', 'rtb-2'],
    isIsolated: true,
  } as const;
  const network = { cidr: '10.77.0.0/16', zones: 1 };

  test('it holds sandboxes, link and endpoints, and creates no network', () => {
    const { network: made, compute } = synthesise({ settings: { network: { ...network, existing } } });
    expect(ofType(made, 'AWS::EC2::VPC')).toEqual([]);
    expect(
      ofType(made, 'AWS::EC2::VPCEndpoint').map(
        ({ Properties }) => Properties.SubnetIds ?? Properties.RouteTableIds,
      ),
    ).toEqual([existing.subnetIds, existing.subnetIds, existing.routeTableIds]);
    const variables = ofType(compute, 'AWS::Lambda::Function').flatMap(
      ({ Properties }) => Properties.Environment?.Variables.SANDBOX_ADDRESS_RANGE ?? [],
    );
    expect(variables).toEqual(['10.1.0.0/16']);
    expect(JSON.stringify(compute)).toContain('"SANDBOX_SUBNETS":"subnet-1,subnet-2"');
  });

  describe('as that of another deployment', () => {
    const shared = { ...existing, endpointsGroupId: 'sg-0c0c0c0c0c0c0c0c0' };
    const { network: joined } = synthesise({ settings: { network: { ...network, existing: shared } } });
    const { network: owner } = synthesise({
      settings: { network: { ...network, sharedWith: ['sallyport-staging'] } },
    });

    test('it has endpoints, DNS firewall and flow log already, and gets none', () => {
      const types = Object.values(joined.Resources).map(({ Type }) => Type);
      expect(types.filter((type) => /VPC|Resolver|FlowLog/.test(type))).toEqual([]);
      const custom = ofType(joined, 'Custom::AWS').map(({ Properties }) => JSON.stringify(Properties.Create));
      expect(custom).toEqual([expect.stringContaining('DescribeManagedPrefixLists')]);
    });

    test('its pull endpoints accept the sandboxes of both', () => {
      const groupOf = (prefix: string) => ({ 'Fn::GetAtt': [expect.stringMatching(prefix), 'GroupId'] });
      expect(ofType(joined, 'AWS::EC2::SecurityGroup')).toHaveLength(2);
      expect(
        ofType(joined, 'AWS::EC2::SecurityGroupIngress').map(({ Properties }) => Properties),
      ).toContainEqual(
        expect.objectContaining({
          GroupId: shared.endpointsGroupId,
          SourceSecurityGroupId: groupOf('SandboxGroup'),
          FromPort: 443,
        }),
      );
      const sandbox = named(joined, 'AWS::EC2::SecurityGroup', 'SandboxGroup').Properties;
      expect(sandbox.SecurityGroupEgress[0].DestinationSecurityGroupId).toBe(shared.endpointsGroupId);
    });

    test('its endpoint of S3 passes the link of the other to buckets of this account', () => {
      const statements = ofType(owner, 'AWS::EC2::VPCEndpoint')
        .filter(({ Properties }) => Properties.VpcEndpointType === 'Gateway')
        .flatMap(({ Properties }) => Properties.PolicyDocument.Statement);
      const added = statements.filter(({ Condition }) => JSON.stringify(Condition ?? '').includes('staging'));
      expect(added).toHaveLength(1);
      expect(JSON.stringify(added[0].Condition.ArnLike)).toContain(':role/sallyport-staging/sandbox-link/*');
      expect(added[0].Condition.StringEquals).toEqual({ 'aws:ResourceAccount': { Ref: 'AWS::AccountId' } });
      const { network: alone } = synthesise();
      expect(JSON.stringify(alone)).not.toContain('aws:ResourceAccount');
    });

    test('it says what the other one is told', () => {
      const parts = Object.values(owner.Outputs ?? {}).flatMap(({ Value }) => {
        const { 'Fn::Join': joined } = Value as {
          readonly 'Fn::Join'?: readonly [string, readonly unknown[]];
        };
        return JSON.stringify(Value).includes('isIsolated') ? (joined?.[1] ?? []) : [];
      });
      const text = parts.map((part) => (typeof part === 'string' ? part : 'given')).join('');
      expect(JSON.parse(text)).toEqual({
        ...{ vpcId: 'given', cidr: 'given', availabilityZones: ['given'] },
        ...{ subnetIds: ['given'], routeTableIds: ['given'], endpointsGroupId: 'given', isIsolated: true },
      });
    });

    test('the zones that it says are those of its subnets, whatever the zones of the account are', () => {
      expect(JSON.stringify(owner)).not.toContain('Fn::GetAZs');
      expect(JSON.stringify(owner.Outputs)).toMatch(/"Fn::GetAtt":\["\w*Subnet\w*","AvailabilityZone"\]/);
    });

    test('the other one shares it with nobody: it has no endpoints of its own that would let another in', () => {
      const third = { ...network, existing: shared, sharedWith: ['sallyport-third'] };
      expect(() => synthesise({ settings: { network: third } })).toThrow(
        'network.sharedWith belongs to the deployment whose network it is',
      );
    });

    test('the name of the other one is no pattern', () => {
      const sharedWith = ['sallyport-*'];
      expect(() => synthesise({ settings: { network: { ...network, sharedWith } } })).toThrow(
        '"sallyport-*" is no name of a deployment',
      );
    });
  });

  test('it has a subnet and a route table for each zone', () => {
    const half = { ...existing, routeTableIds: ['rtb-1'] };
    expect(() => synthesise({ settings: { network: { ...network, existing: half } } })).toThrow(
      'network.existing names 2 zones, 2 subnets and 1 route tables: one of each for every zone',
    );
  });

  test('without the operator’s confirmation it does not compile', () => {
    const { isIsolated: _, ...unseen } = existing;
    // @ts-expect-error: isIsolated is missing
    const settings: Partial<Settings> = { network: { ...network, existing: unseen } };
    expect(() => synthesise({ settings })).toThrow('are invisible');
  });
});
