/**
 * The network of a session: its own choice within its project's, or the project's. A host beyond the project's list is refused by
 * name, at creation and later alike (EG1), and so is a rule for a secret that the project does not have (IJ1).
 */

import { beyondCeiling, type Ceiling, type Network } from '../../domain/egress-policy.ts';
import { rulesBeyond, withRulesOf } from '../../domain/inject-rule.ts';
import type { Project } from '../../domain/project.ts';
import { AppError } from '../../errors.ts';

/** `chosen`: null is none, undefined the project's. */
export const chooseNetwork = (
  chosen: Network | null | undefined,
  { network: ceiling }: Pick<Project, 'network'>,
): Network | undefined => {
  if (chosen === null) return undefined;
  if (chosen === undefined) return ceiling;
  refuseBeyond(chosen, ceiling, 'project');
  refuseRulesBeyond(chosen, ceiling, 'the project');
  return withRulesOf(chosen, ceiling);
};

export const refuseRulesBeyond = (network: Network, ceiling: Network | undefined, whose: string): void => {
  const [beyond] = rulesBeyond(network, ceiling);
  if (beyond === undefined) return;
  const { host, header } = beyond;
  throw new AppError('invalid_request', `network: ${whose} has no such rule for ${header} of ${host}`, {
    suggestions: [
      "Leave out inject to use the project's rules, or ask an administrator to add this rule first.",
    ],
    recoveryActions: ['correct_arguments'],
  });
};

const hostsShown = 5;

/** The list that lacks the hosts, and the way to have them there. */
const lists = {
  project: ['the project does not allow', 'add them to the network of the project'],
  parent: [
    'the session that started this one does not allow',
    'add them to the network of the session that started this one',
  ],
  deployment: [
    'EGRESS_ALLOW of the deployment does not contain',
    'have its operator add them to EGRESS_ALLOW',
  ],
} as const;

export const refuseBeyond = (
  network: Network,
  ceiling: Ceiling | undefined,
  list: keyof typeof lists,
): void => {
  const beyond = beyondCeiling(network, ceiling);
  if (beyond.length === 0) return;
  const [reason, remedy] = lists[list];
  throw new AppError('invalid_request', `network: ${reason} ${beyond.slice(0, hostsShown).join(', ')}`, {
    suggestions: [`Leave these hosts out, or ${remedy} first.`],
    recoveryActions: ['correct_arguments'],
  });
};
