/**
 * A VPC of isolated subnets, with no gateway of any kind and an empty default security group. It grows: a further zone gets
 * the next of eight equal ranges, and replaces nothing.
 *
 * A zone is named by its id, a parameter of the stack that CloudFormation keeps. The order of a region's zones is not kept
 * (https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-getavailabilityzones.html).
 */
import { CfnParameter, type CfnResource, Fn, Stack } from 'aws-cdk-lib';
import { type CfnSubnet, IpAddresses, SubnetType, Vpc } from 'aws-cdk-lib/aws-ec2';
import type { Construct } from 'constructs';
import { addLogGroup, type LogOptions } from './log-group.ts';

export type IsolatedVpcProps = {
  readonly cidr?: string;
  readonly zones?: number;
  readonly zoneIds?: readonly string[];
  readonly logs?: LogOptions;
};

/** Eight zones: more than any region has. */
const zoneBits = 3;
/** EC2's smallest subnet. */
const maskMax = 28;

/** The CDK's id for the function that empties the default group; there is one for each stack. */
const groupEmptier = 'Custom::VpcRestrictDefaultSGCustomResourceProvider';

export const isolatedVpc = (
  scope: Construct,
  { cidr = '10.77.0.0/16', zoneIds, zones = zoneIds?.length ?? 1, logs = {} }: IsolatedVpcProps,
): Vpc => {
  if (zoneIds !== undefined && zoneIds.length !== zones)
    throw new Error(`infra/settings.ts: network.zoneIds names ${zoneIds.length} zones of ${zones}`);
  const vpc = new Vpc(scope, 'Vpc', {
    ipAddresses: IpAddresses.cidr(cidr),
    availabilityZones: Array.from({ length: zones }, (_, zone) => Fn.select(zone, Fn.getAzs())),
    subnetConfiguration: [
      { name: 'sandbox', subnetType: SubnetType.PRIVATE_ISOLATED, cidrMask: maskOf(cidr) },
    ],
    natGateways: 0,
    createInternetGateway: false,
    restrictDefaultSecurityGroup: true,
  });
  for (const [index, { node }] of vpc.isolatedSubnets.entries())
    placeIn(scope, node.defaultChild as CfnSubnet, { number: index + 1, zoneId: zoneIds?.[index] });
  const handler = Stack.of(scope).node.findChild(groupEmptier).node.findChild('Handler') as CfnResource;
  const { logGroupName } = addLogGroup(scope, 'VpcLogs', logs);
  handler.addPropertyOverride('LoggingConfig', { LogGroup: logGroupName });
  return vpc;
};

const maskOf = (cidr: string): number => {
  const mask = Number(cidr.split('/')[1]) + zoneBits;
  if (mask <= maskMax) return mask;
  throw new Error(
    `infra/settings.ts: network.cidr=${cidr} is too small: eight zones need at least /${maskMax - zoneBits}`,
  );
};

type Place = { readonly number: number; readonly zoneId: string | undefined };

const placeIn = (scope: Construct, subnet: CfnSubnet, { number, zoneId }: Place): void => {
  subnet.addPropertyDeletionOverride('AvailabilityZone');
  subnet.availabilityZoneId = zoneId ?? zoneParameter(scope, number);
};

/** Without a default: `npm run deploy` chooses, once. */
const zoneParameter = (scope: Construct, number: number): string =>
  new CfnParameter(scope, `Zone${number}Id`, {
    description: `The id of zone ${number} of the sandboxes, such as use1-az4: it has Fargate and endpoints of ECR`,
    allowedPattern: '[a-z0-9]+-az[0-9]+',
  }).valueAsString;
