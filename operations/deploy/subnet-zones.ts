/**
 * Zones of the subnets that a network stack holds, by the numbers of their zones in the stack. A subnet never changes its zone: it would
 * be replaced under the range that it has, which EC2 refuses.
 */
import type { Aws, Held } from './aws.ts';

type HeldSubnet = {
  /** From 1, as in the name of the parameter `Zone1Id`. */
  readonly number: number;
  readonly id: string;
};
export type PlacedSubnet = HeldSubnet & {
  /** The id of the zone; absent: it may not be read. */
  readonly zone?: string;
};

type Described = {
  readonly Subnets: readonly { readonly SubnetId: string; readonly AvailabilityZoneId?: string }[];
};

const refusals = ['AccessDenied', 'UnauthorizedOperation', 'InvalidSubnetID.NotFound'];

export const subnetsIn = (held: readonly Held[]): readonly HeldSubnet[] =>
  held.flatMap(({ id, type, physicalId }) => {
    // The CDK names them `…Subnet1Subnet<hash>`.
    const number = type === 'AWS::EC2::Subnet' ? /Subnet(\d+)/.exec(id)?.[1] : undefined;
    return number === undefined ? [] : [{ number: Number(number), id: physicalId }];
  });

export const placedSubnets = async (aws: Aws, held: readonly Held[]): Promise<readonly PlacedSubnet[]> => {
  const subnets = subnetsIn(held);
  if (subnets.length === 0) return [];
  const ids = subnets.map(({ id }) => id);
  const found = await aws.find<Described>(refusals, 'ec2', 'describe-subnets', '--subnet-ids', ...ids);
  return subnets.map((subnet) => {
    const zone = found?.Subnets.find(({ SubnetId }) => SubnetId === subnet.id)?.AvailabilityZoneId;
    return { ...subnet, ...(zone !== undefined && { zone }) };
  });
};
