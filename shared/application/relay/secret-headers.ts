/**
 * The headers that requests of a sandbox to a host get, with the secrets of the project as they are now.
 *
 * A secret that is gone, or that no header can hold, fails the request and is named; its value is in no text. Invariants IJ1 and
 * IJ2: docs/spec/relay.md.
 */

import type { InjectRule } from '../../domain/egress-policy.ts';
import type { ProjectId } from '../../domain/ids.ts';
import { isHeaderValue, rulesFor } from '../../domain/inject-rule.ts';
import { AppError } from '../../errors.ts';
import type { EgressTarget, InjectedExchange } from '../../ports/egress.ts';
import type { Deps } from '../deps.ts';

/** The rules of the sandbox that its project has too. */
export type Injected = { readonly project: ProjectId; readonly rules: readonly InjectRule[] };

/** Undefined where no rule is for the host. */
export const injectionFor = (
  { secrets }: Deps<'secrets'>,
  { project, rules }: Injected,
  target: EgressTarget,
): Pick<InjectedExchange, 'headers'> | undefined => {
  const found = rulesFor(rules, target);
  if (found.length === 0) return undefined;
  return {
    headers: async () => {
      const values = await secrets.read(project);
      return Object.fromEntries(found.map((rule) => [rule.header, secretOf(values, rule)]));
    },
  };
};

const secretOf = (values: Readonly<Record<string, string>>, { secret }: InjectRule): string => {
  const value = Object.hasOwn(values, secret) ? values[secret] : undefined;
  if (value === undefined) throw new AppError('not_found', `the project has no secret ${secret}`);
  if (!isHeaderValue(value))
    throw new AppError('invalid_request', `the secret ${secret} has characters that a header cannot contain`);
  return value;
};
