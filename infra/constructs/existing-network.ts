/**
 * An existing VPC that serves only sandboxes. The visible part of its isolation is checked; the operator must confirm the
 * invisible part.
 *
 * The DNS firewall applies to the whole VPC, and the endpoints serve all of it, so nothing else can share it.
 */
import { Reference, Tokenization } from 'aws-cdk-lib';
import {
  CfnEgressOnlyInternetGateway,
  CfnNatGateway,
  CfnRoute,
  CfnTransitGatewayAttachment,
  CfnVPCGatewayAttachment,
  CfnVPCPeeringConnection,
  type IVpc,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import type { Construct, IConstruct } from 'constructs';
import type { ExistingNetwork, NetworkSettings } from '../settings.ts';

const existingVpc = (scope: Construct, id: string, existing: ExistingNetwork): IVpc => {
  const { vpcId, cidr, availabilityZones, subnetIds, routeTableIds } = existing;
  const zones = availabilityZones.length;
  if (zones === 0 || subnetIds.length !== zones || routeTableIds.length !== zones)
    throw new Error(
      `infra/settings.ts: network.existing names ${zones} zones, ${subnetIds.length} subnets and ${routeTableIds.length} route tables: one of each for every zone`,
    );
  return Vpc.fromVpcAttributes(scope, id, {
    vpcId,
    vpcCidrBlock: cidr,
    availabilityZones: [...availabilityZones],
    isolatedSubnetIds: [...subnetIds],
    isolatedSubnetRouteTableIds: [...routeTableIds],
  });
};

/** The network of the settings, with the VPC of an existing one. */
export const networkOf = (scope: Construct, { existing, ...own }: NetworkSettings) => {
  if (existing === undefined) return own;
  const { isIsolated: vpcIsIsolated, endpointsGroupId } = existing;
  const { sharedWith = [] } = own;
  if (endpointsGroupId !== undefined && sharedWith.length > 0)
    throw new Error(
      `infra/settings.ts: network.sharedWith belongs to the deployment whose network it is: name ${sharedWith.join(', ')} there`,
    );
  return { ...own, vpc: existingVpc(scope, 'Existing', existing), vpcIsIsolated, endpointsGroupId };
};

/** Checks the VPC's own properties at once, and at synth the resources of the rest of the app. */
export const requireIsolation = (scope: Construct, vpc: IVpc, isConfirmed: boolean): void => {
  const problems = subnetProblems(vpc);
  if (!(vpc instanceof Vpc) && !isConfirmed)
    problems.push(
      'this app does not create it, so its route tables, gateways and peerings are invisible: check them, then set vpcIsIsolated',
    );
  if (problems.length > 0)
    throw new Error(`the VPC ${vpc.node.path} cannot hold sandboxes: ${problems.join('; ')}`);
  scope.node.addValidation({ validate: () => routesOut(vpc) });
};

const subnetProblems = (vpc: IVpc): string[] => [
  ...vpc.publicSubnets.map(({ node }) => `its subnet ${node.id} is public`),
  ...vpc.privateSubnets.map(({ node }) => `its subnet ${node.id} has a route out`),
  ...(vpc.isolatedSubnets.length === 0 ? ['it has no isolated subnet'] : []),
];

/** Resources anywhere in the app that lead out of the VPC. */
const routesOut = (vpc: IVpc): string[] => {
  const contents = new Set(
    [
      vpc.vpcId,
      ...vpc.isolatedSubnets.flatMap(({ subnetId, routeTable }) => [subnetId, routeTable.routeTableId]),
    ].map(identityOf),
  );
  return vpc.node.root.node
    .findAll()
    .filter((resource) => attachmentsOf(resource).some((attachment) => contents.has(identityOf(attachment))))
    .map(({ node }) => `${node.path} leads out of the sandboxes' VPC ${vpc.node.path}`);
};

const attachmentsOf = (resource: IConstruct): readonly string[] => {
  if (resource instanceof CfnRoute) return [resource.routeTableId];
  if (resource instanceof CfnNatGateway) return [resource.subnetId ?? '', resource.vpcId ?? ''];
  if (resource instanceof CfnVPCPeeringConnection) return [resource.vpcId, resource.peerVpcId];
  if (
    resource instanceof CfnVPCGatewayAttachment ||
    resource instanceof CfnEgressOnlyInternetGateway ||
    resource instanceof CfnTransitGatewayAttachment
  )
    return [resource.vpcId];
  return [];
};

/** A resource of the app itself, or the id of another's. */
const identityOf = (id: string): IConstruct | string => {
  const token = Tokenization.reverse(id, { failConcat: false });
  return token !== undefined && Reference.isReference(token) ? token.target : id;
};
