/**
 * The sandbox of a child: its parent's, unless the child is given less or another template. Then it works in a sandbox of its
 * own, on a fork of its parent's files, so that nothing it was not given is within its reach (CH5).
 *
 * A child never gets more than its parent: a larger flavor and variables that the parent does not have are refused.
 */
import { type Flavor, flavorNames } from './flavor.ts';
import type { Session } from './session.ts';
import type { Template } from './template.ts';

export type ChildSandboxRequest = {
  readonly template?: Template | undefined;
  readonly flavor?: Flavor | undefined;
  /** The names of its parent's variables that it gets; absent: all. */
  readonly env?: readonly string[] | undefined;
};

export type ChildSandbox = {
  readonly template: Template;
  readonly flavor: Flavor;
  /** The variables that it gets of its parent's; absent: all. */
  readonly env?: readonly string[];
  /** True: not as its parent's. */
  readonly isOther: boolean;
};

type Decision =
  | { readonly ok: true; readonly sandbox: ChildSandbox }
  | { readonly ok: false; readonly problem: string };

export const childSandbox = (
  parent: Pick<Session, 'template' | 'flavor' | 'environment'>,
  { template = parent.template, flavor = parent.flavor, env }: ChildSandboxRequest,
): Decision => {
  if (flavorNames.indexOf(flavor) > flavorNames.indexOf(parent.flavor))
    return { ok: false, problem: `flavor: at most ${parent.flavor}, your own` };
  const had = parent.environment?.names ?? [];
  const unknown = env?.filter((name) => !had.includes(name)) ?? [];
  if (unknown.length > 0) return { ok: false, problem: `env: you have no variable ${unknown.join(', ')}` };
  const kept = env === undefined ? undefined : had.filter((name) => env.includes(name));
  const hasLess = kept !== undefined && kept.length < had.length;
  const isOther = hasLess || template !== parent.template || flavor !== parent.flavor;
  return { ok: true, sandbox: { template, flavor, isOther, ...(hasLess ? { env: kept } : {}) } };
};
