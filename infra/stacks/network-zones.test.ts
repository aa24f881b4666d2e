import { describe, expect, test } from 'vitest';
import { ofType, synthesise } from './synthesise.ts';

const { network } = synthesise();

describe('the network grows', () => {
  const rangesOf = (zones: number) =>
    ofType(
      synthesise({ settings: { network: { cidr: '10.77.0.0/16', zones } } }).network,
      'AWS::EC2::Subnet',
    ).map(({ Properties }) => Properties.CidrBlock);

  test('by ranges that leave the first ones as they are', () => {
    expect(rangesOf(1)).toEqual(['10.77.0.0/19']);
    expect(rangesOf(3)).toEqual(['10.77.0.0/19', '10.77.32.0/19', '10.77.64.0/19']);
  });

  test('by subnets under names of their own, which replace none', () => {
    const idsOf = (zones: number) =>
      Object.entries(
        synthesise({ settings: { network: { cidr: '10.77.0.0/16', zones } } }).network.Resources,
      ).filter(([, { Type }]) => Type === 'AWS::EC2::Subnet');
    expect(idsOf(2)).toEqual(expect.arrayContaining(idsOf(1)));
  });

  test('in zones that are parameters, which CloudFormation keeps however the region lists its zones', () => {
    expect(Object.keys(network.Parameters ?? {})).toContain('Zone1Id');
    const [subnet] = ofType(network, 'AWS::EC2::Subnet');
    expect(subnet?.Properties.AvailabilityZoneId).toEqual({ Ref: 'Zone1Id' });
    expect(subnet?.Properties).not.toHaveProperty('AvailabilityZone');
  });

  test('in zones that the settings name', () => {
    const zoneIds = ['use1-az4', 'use1-az1'];
    const { network: named } = synthesise({
      settings: { network: { cidr: '10.77.0.0/16', zones: 2, zoneIds } },
    });
    const subnets = ofType(named, 'AWS::EC2::Subnet').map(({ Properties }) => Properties);
    expect(subnets.map(({ AvailabilityZoneId }) => AvailabilityZoneId)).toEqual(zoneIds);
    for (const subnet of subnets) expect(subnet).not.toHaveProperty('AvailabilityZone');
    expect(Object.keys(named.Parameters ?? {})).not.toContain('Zone1Id');
  });

  test.each([
    [{ cidr: '10.77.0.0/26', zones: 1 }, 'at least /25'],
    [{ cidr: '10.77.0.0/16', zones: 2, zoneIds: ['use1-az4'] }, 'names 1 zones of 2'],
  ])('and settings that cannot be are refused: %o', (given, problem) => {
    expect(() => synthesise({ settings: { network: given } })).toThrow(problem);
  });
});
