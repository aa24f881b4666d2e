/**
 * The network of a session or a project as a client names it: `none`, or the hosts that its sandboxes may reach, and the secrets
 * that go into headers of requests to some of them. An empty list is `none`. Each host is refused by its place when it cannot be
 * read, and a rule for a host that is not listed by the host.
 */
import * as z from 'zod';
import { hostPatternRule, type Network, parseHostPattern } from '#shared/domain/egress-policy.ts';
import {
  hasRepeatedRule,
  injectHeaderRule,
  injectHostRule,
  isInjectableHeader,
  parseInjectHost,
  unlistedHosts,
} from '#shared/domain/inject-rule.ts';
import { isSecretName } from '#shared/domain/project.ts';
import { hostPatternCharactersMax, injectRulesMax, networkHostsMax } from '#shared/domain/relay/limits.ts';

export const hostPattern = z
  .string()
  .max(hostPatternCharactersMax)
  .refine((text) => parseHostPattern(text) !== undefined, hostPatternRule);

const hosts = z
  .array(hostPattern)
  .max(networkHostsMax)
  .describe('Hosts as `host`, `*.host` or either with `:port`.');

const injectRule = z.strictObject({
  host: z
    .string()
    .max(hostPatternCharactersMax)
    .refine((text) => parseInjectHost(text) !== undefined, injectHostRule)
    .describe('One host, as `host` or `host:port`.'),
  header: z
    .string()
    .refine(isInjectableHeader, injectHeaderRule)
    .describe('Header that gets the secret as its whole value.'),
  secret: z
    .string()
    .refine(isSecretName, 'must be the name of a secret of the project')
    .describe('Name of a secret of the project.'),
});

const rules = z
  .array(injectRule)
  .max(injectRulesMax)
  .refine((given) => !hasRepeatedRule(given), 'must name a header of a host once')
  .describe(
    'Secrets that the platform puts into headers, outside the sandbox; absent: those of the level above.',
  );

const listed = z.strictObject({ allow: hosts, inject: rules.optional() }).superRefine((given, context) => {
  for (const host of unlistedHosts(networkFrom(given)))
    context.addIssue({
      code: 'custom',
      path: ['inject'],
      message: `${host} is not among the hosts of allow`,
    });
});

export const network = z
  .union([z.literal('none'), listed])
  .describe('Network of the sandbox: none, or the hosts that its programs may reach.');

type Given = z.output<typeof network>;

const networkFrom = ({ allow, inject }: Exclude<Given, 'none'>): Network => ({
  allow: [...new Set(allow)],
  ...(inject === undefined ? {} : { inject }),
});

/** Null: none. */
export const networkOf = (given: Given): Network | null =>
  given === 'none' || given.allow.length === 0 ? null : networkFrom(given);

export const networkView = (stored: Network | undefined): Given =>
  stored === undefined
    ? 'none'
    : {
        allow: [...stored.allow],
        ...(stored.inject === undefined ? {} : { inject: [...stored.inject] }),
      };
