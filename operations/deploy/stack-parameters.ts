/**
 * The parameters of the stacks that a deploy chooses by the facts of the account: zones of the network, and whether the
 * deployment sets the role of API Gateway's logs. CloudFormation keeps what was chosen before, so nothing moves.
 */
import { usableZones } from './account-checks.ts';
import type { AccountFacts } from './account-facts.ts';
import { findStanding } from './aws.ts';
import type { Target } from './command.ts';

/** `<stack>:<parameter>=<value>`, as the CDK takes them. */
export const chooseParameters = async (target: Target, facts: AccountFacts): Promise<readonly string[]> => [
  ...(await logRoleChoice(target, facts)),
  ...(await zoneChoices(target, facts)),
];

const logRoleChoice = async (
  { aws, settings }: Target,
  { apiLogRole }: AccountFacts,
): Promise<readonly string[]> => {
  if (settings.ownsApiLogRole !== undefined || apiLogRole === undefined) return [];
  const data = `${settings.deployment}-data`;
  if (apiLogRole === '') return [`${data}:SetsApiLogRole=yes`];
  // A role that is there may be this deployment's own.
  return (await findStanding(aws, data)) === undefined ? [`${data}:SetsApiLogRole=no`] : [];
};

/** Of zones that have no id yet. */
const zoneChoices = async (
  { aws, settings, region }: Target,
  facts: AccountFacts,
): Promise<readonly string[]> => {
  const { existing, zoneIds, zones } = settings.network;
  if (existing !== undefined || zoneIds !== undefined) return [];
  const network = `${settings.deployment}-network`;
  const found = await findStanding(aws, network);
  const known = Array.from({ length: zones }, (_, index) => found?.parameters[`Zone${index + 1}Id`]);
  const free = usableZones(facts, region)
    .map(({ id }) => id)
    .filter((id) => !known.includes(id));
  return known.flatMap((zone, index) => {
    const chosen = zone === undefined ? free.shift() : undefined;
    return chosen === undefined ? [] : [`${network}:Zone${index + 1}Id=${chosen}`];
  });
};
