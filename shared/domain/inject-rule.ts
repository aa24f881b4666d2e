/**
 * The rules by which the platform puts a secret of the project into a header of a request: which are well formed, which host each
 * is for, and which of them a network has.
 *
 * A host is exact: a pattern could name one that another party owns. A header that belongs to the connection, or that says whose
 * request it is, cannot be set. Invariants IJ1 and IJ2: docs/spec/relay.md.
 */
import {
  beyondCeiling,
  type Endpoint,
  type HostPattern,
  type InjectRule,
  keyOfRule,
  type Network,
  parseHostPattern,
  refuseEgress,
} from './egress-policy.ts';

export const injectHostRule =
  'must be one host, or a host and a port, such as api.example.org: a pattern is refused';
export const injectHeaderRule = 'must be the name of a header that a client may set, such as authorization';

const headerName = /^[!#$%&'*+.^_`|~0-9a-z-]{1,100}$/i;
const refusedHeaders = new Set([
  ...[
    'connection',
    'keep-alive',
    'te',
    'trailer',
    'transfer-encoding',
    'upgrade',
    'expect',
    'content-length',
  ],
  ...['host', 'forwarded', 'via'],
]);

/** Undefined for a wildcard, and for what is no host. */
export const parseInjectHost = (text: string): HostPattern | undefined => {
  const pattern = parseHostPattern(text);
  return pattern?.isWildcard === true ? undefined : pattern;
};

export const isInjectableHeader = (name: string): boolean => {
  const lower = name.toLowerCase();
  return headerName.test(name) && !refusedHeaders.has(lower) && !/^(?:proxy|sec)-/.test(lower);
};

/** No line break or other control character, which would be a second header, and no character beyond one byte. */
export const isHeaderValue = (value: string): boolean => /^[\t\x20-\x7e\x80-\xff]*$/.test(value);

/** The rules for an endpoint. One that names the port is behind one for all ports: of two for a header the last one holds. */
export const rulesFor = (rules: readonly InjectRule[], { host, port }: Endpoint): readonly InjectRule[] => {
  const found = rules.filter((rule) => refuseEgress([{ allow: [rule.host] }], { host, port }) === undefined);
  const ofPort = (rule: InjectRule): boolean => parseInjectHost(rule.host)?.port !== undefined;
  return [...found.filter((rule) => !ofPort(rule)), ...found.filter(ofPort)];
};

/** Two rules for one header of one host, which would contradict each other. */
export const hasRepeatedRule = (rules: readonly InjectRule[]): boolean =>
  new Set(rules.map(targetOf)).size < rules.length;

/** The hosts of rules that a network does not list. */
export const unlistedHosts = ({ allow, inject = [] }: Network): readonly string[] =>
  inject.filter(({ host }) => !isListed(allow, host)).map(({ host }) => host);

/** As a whole, or one of its ports. */
const isListed = (allow: readonly string[], host: string): boolean =>
  covers(allow, host) || allow.some((pattern) => covers([host], pattern));

const covers = (allow: readonly string[], pattern: string): boolean =>
  beyondCeiling({ allow: [pattern] }, { allow }).length === 0;

/** A network with those of the rules that are for its hosts; one that names its rules keeps them. */
export const withRulesOf = (network: Network, above: Network | undefined): Network => {
  if (network.inject !== undefined) return withRules(network, network.inject);
  return withRules(
    network,
    (above?.inject ?? []).filter(({ host }) => isListed(network.allow, host)),
  );
};

const withRules = ({ allow }: Network, inject: readonly InjectRule[]): Network =>
  inject.length === 0 ? { allow } : { allow, inject };

/** The rules that the network above does not have. */
export const rulesBeyond = ({ inject = [] }: Network, above: Network | undefined): readonly InjectRule[] => {
  const known = new Set((above?.inject ?? []).map(keyOfRule));
  return inject.filter((rule) => !known.has(keyOfRule(rule)));
};

/** The rules that both have: one that is taken away above is gone below. */
export const rulesOfBoth = (one: Network | undefined, other: Network | undefined): readonly InjectRule[] => {
  const beyond = new Set(one === undefined ? [] : rulesBeyond(one, other));
  return (one?.inject ?? []).filter((rule) => !beyond.has(rule));
};

/** The rest of it below another one: a pattern that the other does not cover as a whole goes. */
export const narrowedTo = (network: Network | undefined, above: Network | undefined): Network | undefined => {
  if (network === undefined) return undefined;
  const beyond = new Set(beyondCeiling(network, above));
  const allow = network.allow.filter((pattern) => !beyond.has(pattern));
  const inject = rulesOfBoth(network, above).filter(({ host }) => isListed(allow, host));
  return allow.length === 0 ? undefined : withRules({ allow }, inject);
};

/** A final dot makes no other host. */
const targetOf = ({ host, header }: InjectRule): string =>
  `${host.replace(/\.(?=:|$)/, '')} ${header}`.toLowerCase();
