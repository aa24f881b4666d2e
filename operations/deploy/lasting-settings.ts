/**
 * Settings that a deployment must keep: its functions need the key and the network that they were deployed with, so a change of
 * either is refused before it begins.
 *
 * The network is updated before the functions. At that time the link still uses the resources that the update would delete.
 * CloudFormation gives up on them after the update, and leaves them behind without a stack.
 */
import type { Finding } from './account-checks.ts';
import { type Aws, findStanding, type Held, resourcesOf } from './aws.ts';
import type { Target } from './command.ts';
import { type PlacedSubnet, placedSubnets, subnetsIn } from './subnet-zones.ts';

export type Problem = Omit<Finding, 'level'>;

export const lastingProblems = async (target: Target): Promise<readonly Problem[]> =>
  [await keyProblem(target), await networkProblem(target)].filter((problem) => problem !== undefined);

const anew = 'or make the deployment anew from a backup: docs/deploy.md, "Backup and restore".';

/** Undefined for a stack that is not there. */
const heldBy = async (aws: Aws, stack: string): Promise<readonly Held[] | undefined> =>
  (await findStanding(aws, stack)) === undefined ? undefined : resourcesOf(aws, stack);

type BucketEncryption = {
  readonly ServerSideEncryptionConfiguration: {
    readonly Rules: readonly {
      readonly ApplyServerSideEncryptionByDefault?: { readonly KMSMasterKeyID?: string };
    }[];
  };
};

const unknownEncryption = ['AccessDenied', 'NoSuchBucket', 'ServerSideEncryptionConfigurationNotFoundError'];

/**
 * Functions may use the key of the settings alone: a deployment that leaves a key could read none of the files and secrets under it.
 * AWS's own key needs no permission, so any other can follow it.
 */
const keyProblem = async ({ aws, settings }: Target): Promise<Problem | undefined> => {
  const { deployment, encryption } = settings;
  const held = (await heldBy(aws, `${deployment}-data`)) ?? [];
  const idOf = (type: string, start: string): string | undefined =>
    held.find((one) => one.type === type && one.id.startsWith(start))?.physicalId;
  const bucket = idOf('AWS::S3::Bucket', 'Workspaces');
  if (bucket === undefined) return undefined;
  const asked = ['s3api', 'get-bucket-encryption', '--bucket', bucket] as const;
  const found = await aws.find<BucketEncryption>(unknownEncryption, ...asked);
  const [rule] = found?.ServerSideEncryptionConfiguration.Rules ?? [];
  const used = rule?.ApplyServerSideEncryptionByDefault?.KMSMasterKeyID;
  if (used === undefined) return undefined;
  const own = idOf('AWS::KMS::Key', 'EncryptionKey');
  const wanted = typeof encryption === 'string' ? own : encryption.keyArn;
  const isSame = wanted !== undefined && used.split('/').at(-1) === wanted.split('/').at(-1);
  if (isSame && encryption !== 'aws-managed') return undefined;
  return {
    problem: `the data of ${deployment} is under the key ${used}, which its functions could not use any more with this encryption`,
    next: `Leave encryption as it was deployed, ${anew}`,
  };
};

const networkProblem = async ({ aws, settings }: Target): Promise<Problem | undefined> => {
  const { deployment, network } = settings;
  const stack = await findStanding(aws, `${deployment}-network`);
  if (stack === undefined) return undefined;
  const held = await resourcesOf(aws, stack.name);
  const vpc = held.find(({ type }) => type === 'AWS::EC2::VPC')?.physicalId;
  const { parameters } = stack;
  const change =
    vpc === undefined ? changeOfOthers(network) : await changeOfOwn(aws, { network, vpc, held, parameters });
  return change === undefined
    ? undefined
    : {
        problem: `${change}, and the link of ${deployment} cannot move to another network`,
        next: `Leave network as it was deployed, ${anew} More zones can be added.`,
      };
};

type Network = Target['settings']['network'];
type Own = {
  readonly network: Network;
  readonly vpc: string;
  readonly held: readonly Held[];
  /** Of the network stack. */
  readonly parameters: Readonly<Record<string, string>>;
};

const changeOfOthers = ({ existing }: Network): string | undefined =>
  existing === undefined
    ? 'the settings ask for a network of its own in place of network.existing'
    : undefined;

const refusals = ['AccessDenied', 'UnauthorizedOperation', 'InvalidVpcID.NotFound'];

const changeOfOwn = async (aws: Aws, own: Own): Promise<string | undefined> => {
  const { network, vpc, held } = own;
  if (network.existing !== undefined) return `the settings name network.existing in place of ${vpc}`;
  const named = ['ec2', 'describe-vpcs', '--vpc-ids', vpc] as const;
  const found = await aws.find<{ readonly Vpcs: readonly { readonly CidrBlock?: string }[] }>(
    refusals,
    ...named,
  );
  const cidr = found?.Vpcs[0]?.CidrBlock;
  if (cidr !== undefined && rangeOf(cidr) !== rangeOf(network.cidr))
    return `the range of ${vpc} is ${cidr}, and network.cidr is ${network.cidr}`;
  const { length } = subnetsIn(held);
  if (length > network.zones) return `${vpc} has ${length} zones, and network.zones is ${network.zones}`;
  return changeOfZones(aws, own);
};

/** The first address and the size, which EC2 makes of `10.77.3.0/16`, too. */
const rangeOf = (cidr: string): string => {
  const [address = '', bits = '32'] = cidr.split('/');
  const number = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  const size = 2 ** (32 - Number(bits));
  return `${Math.floor(number / size) * size}/${bits}`;
};

/** A subnet stays in its zone, which the settings name in its place, or the stack has as a parameter, or a deploy reads. */
const changeOfZones = async (
  aws: Aws,
  { network: { zoneIds }, held, parameters }: Own,
): Promise<string | undefined> => {
  if (zoneIds !== undefined) {
    const isMoved = ({ number, zone }: PlacedSubnet): boolean =>
      zone !== undefined && zone !== zoneIds[number - 1];
    const moved = (await placedSubnets(aws, held)).find(isMoved);
    const wanted = moved && (zoneIds[moved.number - 1] ?? 'none');
    return (
      moved && `subnet ${moved.id} is in zone ${moved.zone}, and network.zoneIds has ${wanted} in its place`
    );
  }
  const isParameter = (number: number): boolean => parameters[`Zone${number}Id`] !== undefined;
  if (subnetsIn(held).every(({ number }) => isParameter(number))) return undefined;
  const unknown = (await placedSubnets(aws, held)).find(
    ({ number, zone }) => zone === undefined && !isParameter(number),
  );
  return unknown && `the zone of subnet ${unknown.id} may not be read, and network.zoneIds does not name it`;
};
