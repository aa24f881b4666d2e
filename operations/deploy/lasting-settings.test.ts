/** Deploys that would leave the key of the data, which functions could then not read, or the network that the link is in. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { deployCommand } from './deploy.ts';
import { busyAccount, openMachine, usualFacts } from './fixtures/machine.ts';

const folder = mkdtempSync(join(tmpdir(), 'sallyport-encryption-'));
afterAll(() => rmSync(folder, { recursive: true }));

const arn = (id: string): string => `arn:aws:kms:eu-central-1:111122223333:key/${id}`;

/** A deploy with these settings into an account whose bucket is under the key. */
const deployWith = async (encryption: unknown, used: string | undefined) => {
  const path = join(folder, 'settings.json');
  writeFileSync(path, JSON.stringify({ encryption }));
  const data = busyAccount.stacks['sallyport-data'];
  const key = ['AWS::KMS::Key', 'EncryptionKey12345678', 'own'];
  const rule = used === undefined ? { SSEAlgorithm: 'AES256' } : { KMSMasterKeyID: used };
  const machine = openMachine({
    ...busyAccount,
    stacks: {
      ...busyAccount.stacks,
      'sallyport-data': { ...data, resources: [...data.resources, ...(used === arn('own') ? [key] : [])] },
    },
    has: {
      ...usualFacts,
      's3api get-bucket-encryption': {
        ServerSideEncryptionConfiguration: { Rules: [{ ApplyServerSideEncryptionByDefault: rule }] },
      },
    },
  });
  const { error } = await machine.run(deployCommand, ['--settings', path, '--no-check'], 'no');
  return error;
};

const kept = 'nothing was deployed\n';

test.each([
  ['its own key', ['customer-managed', arn('own')], kept],
  ['an existing key', [{ keyArn: arn('theirs') }, arn('theirs')], kept],
  ['AWS’s key', ['aws-managed', undefined], kept],
  ['AWS’s key for one of its own', ['customer-managed', undefined], kept],
  ['its own key for AWS’s', ['aws-managed', arn('own')], /under the key \S+own, .* could not use/],
  ['its own key for an existing one', [{ keyArn: arn('theirs') }, arn('own')], /under the key \S+own/],
  ['an existing key for another', [{ keyArn: arn('other') }, arn('theirs')], /under the key \S+theirs/],
  ['an existing key for its own', ['customer-managed', arn('theirs')], /under the key \S+theirs/],
] as const)('a deploy that keeps or changes %s', async (_, [encryption, used], says) => {
  expect(await deployWith(encryption, used)).toMatch(says);
});

type Resources = readonly (readonly string[])[];

/** An account whose network stack holds these resources, and a file of settings with this network. */
const openNetwork = (network: object, resources: Resources, more: object = {}) => {
  const path = join(folder, 'settings.json');
  writeFileSync(path, JSON.stringify({ network }));
  const before = busyAccount.stacks['sallyport-network'];
  const machine = openMachine({
    ...busyAccount,
    stacks: { ...busyAccount.stacks, 'sallyport-network': { ...before, resources } },
    has: { ...usualFacts, 'ec2 describe-vpcs': { Vpcs: [{ CidrBlock: '10.77.0.0/16' }] }, ...more },
  });
  return { machine, flags: ['--settings', path, '--no-check'] };
};

const deployInto = async (network: object, resources: Resources, more: object = {}) => {
  const { machine, flags } = openNetwork(network, resources, more);
  return (await machine.run(deployCommand, flags, 'no')).error;
};

const vpc = ['AWS::EC2::VPC', 'Vpc', 'vpc-1'];
const subnet = (number: number) => ['AWS::EC2::Subnet', `Subnet${number}`, `subnet-${number}`];
const inZones = (...zones: readonly string[]) => ({
  'ec2 describe-subnets': {
    Subnets: zones.map((AvailabilityZoneId, index) => ({
      SubnetId: `subnet-${index + 1}`,
      AvailabilityZoneId,
    })),
  },
});
const existing = {
  ...{ vpcId: 'vpc-2', cidr: '10.0.0.0/16', availabilityZones: ['a'], subnetIds: ['s'] },
  ...{ routeTableIds: ['r'], isIsolated: true },
};

test.each([
  ['nothing', [{}, [vpc, subnet(1)]], kept],
  [
    'another range',
    [{ cidr: '10.78.0.0/16' }, [vpc, subnet(1)]],
    /10\.77\.0\.0\/16, and network\.cidr is 10\.78/,
  ],
  ['the range that it has by another of its addresses', [{ cidr: '10.77.3.0/16' }, [vpc, subnet(1)]], kept],
  ['a smaller range', [{ cidr: '10.77.0.0/17' }, [vpc, subnet(1)]], /10\.77\.0\.0\/16, and network\.cidr/],
  ['fewer zones', [{}, [vpc, subnet(1), subnet(2)]], /vpc-1 has 2 zones, and network\.zones is 1/],
  ['more zones', [{ zones: 2 }, [vpc, subnet(1)]], kept],
  ['the zone that it has', [{ zoneIds: ['euc1-az2'] }, [vpc, subnet(1)], inZones('euc1-az2')], kept],
  [
    'another zone',
    [{ zoneIds: ['euc1-az1'] }, [vpc, subnet(1)], inZones('euc1-az2')],
    /subnet-1 is in zone euc1-az2/,
  ],
  [
    'the zones that it has in another order',
    [
      { zones: 2, zoneIds: ['euc1-az3', 'euc1-az2'] },
      [vpc, subnet(1), subnet(2)],
      inZones('euc1-az2', 'euc1-az3'),
    ],
    /subnet-1 is in zone euc1-az2, and network\.zoneIds has euc1-az3 in its place/,
  ],
  ['a network of others', [{ existing }, [vpc, subnet(1)]], /network\.existing in place of vpc-1/],
  ['a network of its own', [{}, []], /a network of its own in place of network\.existing/],
  ['the network of others that it has', [{ existing }, []], kept],
] as const)('a deploy that asks for %s', async (_, [network, resources, more], says) => {
  expect(await deployInto(network, resources, more)).toMatch(says);
});

describe('a deploy whose settings name no zones any more', () => {
  /** The CDK's names, with hashes that begin with digits. */
  const named = (number: number) => [
    'AWS::EC2::Subnet',
    `NetworkVpcsandboxSubnet${number}Subnet${4 - number}E45C6A1`,
    `subnet-${number}`,
  ];
  const deployWithout = async (zones: number, has: object) => {
    const { machine, flags } = openNetwork({ zones }, [vpc, named(1)], has);
    // A stack whose settings named the zones has no parameters.
    Object.assign(machine.state.stacks['sallyport-network'] ?? {}, { parameters: {} });
    const { code, error } = await machine.run(deployCommand, ['--yes', ...flags]);
    const passed = machine.calls.flatMap((call) => [...call.matchAll(/sallyport-network:(Zone\S+)/g)]);
    return { code, error, zones: passed.map(([, zone]) => zone) };
  };

  test('leaves each subnet in its zone, and chooses others for more', async () => {
    const [one, two] = [
      await deployWithout(1, inZones('euc1-az3')),
      await deployWithout(2, inZones('euc1-az2')),
    ];
    expect(one).toEqual({ code: 0, error: '', zones: ['Zone1Id=euc1-az3'] });
    expect(two).toEqual({ code: 0, error: '', zones: ['Zone1Id=euc1-az2', 'Zone2Id=euc1-az3'] });
  });

  test('is refused where the zone of a subnet may not be read', async () => {
    const { machine, flags } = openNetwork({}, [vpc, named(1)]);
    Object.assign(machine.state.stacks['sallyport-network'] ?? {}, { parameters: {} });
    Object.assign(machine.state, { refuses: { 'ec2 describe-subnets': 'UnauthorizedOperation' } });
    const { code, error } = await machine.run(deployCommand, ['--yes', ...flags]);
    expect([code, error]).toEqual([1, expect.stringMatching(/the zone of subnet subnet-1 may not be read/)]);
  });
});
