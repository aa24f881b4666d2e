/**
 * The sandbox of a child: its parent's, unless the child is given less or another template. Then it works in a sandbox of its
 * own, on a fork of its parent's files, so that nothing it was not given is within its reach (CH5).
 *
 * A child never gets more than its parent: a larger flavor, and variables, hosts and rules that the parent does not have are refused.
 */

import { beyondCeiling, isSameNetwork, type Network } from './egress-policy.ts';
import { type Flavor, flavorNames } from './flavor.ts';
import { rulesBeyond, withRulesOf } from './inject-rule.ts';
import type { Session } from './session.ts';
import type { Template } from './template.ts';

export type ChildSandboxRequest = {
  readonly template?: Template | undefined;
  readonly flavor?: Flavor | undefined;
  /** The names of its parent's variables that it gets; absent: all. */
  readonly env?: readonly string[] | undefined;
  /** Of its parent's; null: none; absent: all of it. */
  readonly network?: Network | null | undefined;
};

export type ChildSandbox = {
  readonly template: Template;
  readonly flavor: Flavor;
  /** The variables that it gets of its parent's; absent: all. */
  readonly env?: readonly string[];
  readonly network?: Network;
  /** True: not as its parent's. */
  readonly isOther: boolean;
};

type Decision =
  | { readonly ok: true; readonly sandbox: ChildSandbox }
  | { readonly ok: false; readonly problem: string };

export const childSandbox = (
  parent: Pick<Session, 'template' | 'flavor' | 'environment' | 'network'>,
  { template = parent.template, flavor = parent.flavor, env, network: wanted }: ChildSandboxRequest,
): Decision => {
  if (flavorNames.indexOf(flavor) > flavorNames.indexOf(parent.flavor))
    return { ok: false, problem: `flavor: at most ${parent.flavor}, your own` };
  const had = parent.environment?.names ?? [];
  const unknown = env?.filter((name) => !had.includes(name)) ?? [];
  if (unknown.length > 0) return { ok: false, problem: `env: you have no variable ${unknown.join(', ')}` };
  const beyond = networkBeyond(wanted ?? undefined, parent.network);
  if (beyond !== undefined) return { ok: false, problem: `network: ${beyond}` };
  const kept = env === undefined ? undefined : had.filter((name) => env.includes(name));
  const hasLess = kept !== undefined && kept.length < had.length;
  const network = chosenNetwork(wanted, parent.network);
  const isOther =
    hasLess ||
    template !== parent.template ||
    flavor !== parent.flavor ||
    !isSameNetwork(network, parent.network);
  const sandbox = { template, flavor, isOther, ...(network === undefined ? {} : { network }) };
  return { ok: true, sandbox: { ...sandbox, ...(hasLess ? { env: kept } : {}) } };
};

const networkBeyond = (wanted: Network | undefined, own: Network | undefined): string | undefined => {
  if (wanted === undefined) return undefined;
  const hosts = beyondCeiling(wanted, own);
  if (hosts.length > 0) return `you may not reach ${hosts.slice(0, hostsShown).join(', ')}`;
  const [rule] = rulesBeyond(wanted, own);
  return rule && `you have no such rule for ${rule.header} of ${rule.host}`;
};

const hostsShown = 5;

/** With its parent's rules for its hosts, unless it names some of them. */
const chosenNetwork = (wanted: Network | null | undefined, own: Network | undefined): Network | undefined => {
  if (wanted === undefined) return own;
  return wanted === null ? undefined : withRulesOf(wanted, own);
};
