/**
 * A VPC that was there before the platform, and is for sandboxes alone: what of its isolation can be seen here is
 * checked, and what can not is refused until somebody vouches for it.
 *
 * The DNS firewall closes the whole VPC, and the endpoints answer for all of it: it can not be shared with others.
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
import type { ExistingNetwork } from '../settings.ts';

export const existingVpc = (scope: Construct, id: string, existing: ExistingNetwork): IVpc => {
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

/** Refuses at once what the VPC says of itself, and at synth what the rest of the app does to it. */
export const demandIsolation = (scope: Construct, vpc: IVpc, isVouchedFor: boolean): void => {
  const problems = subnetProblems(vpc);
  if (!(vpc instanceof Vpc) && !isVouchedFor)
    problems.push(
      'it is not made by this app, so its route tables, gateways and peerings can not be seen: look, then set vpcIsIsolated',
    );
  if (problems.length > 0)
    throw new Error(`the VPC ${vpc.node.path} can not hold sandboxes: ${problems.join('; ')}`);
  scope.node.addValidation({ validate: () => waysOut(vpc) });
};

const subnetProblems = (vpc: IVpc): string[] => [
  ...vpc.publicSubnets.map(({ node }) => `its subnet ${node.id} is public`),
  ...vpc.privateSubnets.map(({ node }) => `its subnet ${node.id} has a way out`),
  ...(vpc.isolatedSubnets.length === 0 ? ['it has no isolated subnet'] : []),
];

/** Resources anywhere in the app that lead out of the VPC. */
const waysOut = (vpc: IVpc): string[] => {
  const inside = new Set(
    [
      vpc.vpcId,
      ...vpc.isolatedSubnets.flatMap(({ subnetId, routeTable }) => [subnetId, routeTable.routeTableId]),
    ].map(named),
  );
  return vpc.node.root.node
    .findAll()
    .filter((resource) => placesOf(resource).some((place) => inside.has(named(place))))
    .map(({ node }) => `${node.path} leads out of the sandboxes' VPC ${vpc.node.path}`);
};

const placesOf = (resource: IConstruct): readonly string[] => {
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

/** A resource of the app by itself, another's by its id. */
const named = (id: string): IConstruct | string => {
  const token = Tokenization.reverse(id, { failConcat: false });
  return token !== undefined && Reference.isReference(token) ? token.target : id;
};
