/**
 * The parameters of the stacks that a deploy chooses by the facts of the account: zones of the network, and whether the
 * deployment sets the role of API Gateway's logs. CloudFormation keeps what was chosen before, and a subnet whose zone the settings
 * named before has the zone that it is in, so nothing moves.
 */
import { usableZones } from './account-checks.ts';
import type { AccountFacts } from './account-facts.ts';
import { findStanding, resourcesOf } from './aws.ts';
import type { Target } from './command.ts';
import { Failure } from './programs.ts';
import { placedSubnets } from './subnet-zones.ts';

/** `<stack>:<parameter>=<value>`, as the CDK takes them. */
export const chooseParameters = async (target: Target, facts: AccountFacts): Promise<readonly string[]> => [
  ...(await logRoleChoice(target, facts)),
  ...(await zoneChoices(target, facts)),
];

const logRoleChoice = async (
  { aws, settings }: Target,
  { apiLogRole }: AccountFacts,
): Promise<readonly string[]> => {
  if (settings.ownsApiLogRole !== undefined) return [];
  const data = `${settings.deployment}-data`;
  if (apiLogRole === '') return [`${data}:SetsApiLogRole=yes`];
  // A role that is there may be this deployment's own.
  if ((await findStanding(aws, data)) !== undefined) return [];
  if (apiLogRole === undefined) throw unknownLogRole();
  return [`${data}:SetsApiLogRole=no`];
};

/** A role for all APIs of the account and region is not replaced on a guess. */
const unknownLogRole = (): Failure =>
  new Failure("the account may have a role for API Gateway's logs, which cannot be read", [
    'Ask its administrator for the right to read it (apigateway:GET on /account), or name ownsApiLogRole in the settings of the stage: false where the account has such a role in this region, true where it has none.',
  ]);

/** Of zones whose id is no parameter of the stack yet. */
const zoneChoices = async (
  { aws, settings, region }: Target,
  facts: AccountFacts,
): Promise<readonly string[]> => {
  const { existing, zoneIds, zones } = settings.network;
  if (existing !== undefined || zoneIds !== undefined) return [];
  const network = `${settings.deployment}-network`;
  const found = await findStanding(aws, network);
  const known = Array.from({ length: zones }, (_, index) => found?.parameters[`Zone${index + 1}Id`]);
  if (!known.includes(undefined)) return [];
  const subnets = found === undefined ? [] : await placedSubnets(aws, await resourcesOf(aws, network));
  const taken = [...known, ...subnets.map(({ zone }) => zone)];
  const free = usableZones(facts, region)
    .map(({ id }) => id)
    .filter((id) => !taken.includes(id));
  return known.flatMap((zone, index) => {
    if (zone !== undefined) return [];
    const subnet = subnets.find(({ number }) => number === index + 1);
    const chosen = subnet === undefined ? free.shift() : subnet.zone;
    return chosen === undefined ? [] : [`${network}:Zone${index + 1}Id=${chosen}`];
  });
};
