/**
 * The network of a sandbox: the hosts that its programs may reach, and who may allow which.
 *
 * A pattern is `host`, `*.host` (the names below it, not itself) or either with `:port`; without a port it means all. Hosts
 * are compared by name, before any name is resolved. An address is matched only by the same address written out, and any
 * other spelling of a number is refused, whatever the list says. Invariants EG1 and EG2: docs/spec/relay.md.
 */
import { parseAddress } from './ip-address.ts';
import { hostPatternCharactersMax } from './relay/limits.ts';

/** The platform puts a secret of the project into this header of requests to this host. */
export type InjectRule = {
  /** Exact, with a port or for all ports. */
  readonly host: string;
  readonly header: string;
  /** A name; the value never enters a sandbox. */
  readonly secret: string;
};

/** Absent where it is used: no network at all. */
export type Network = { readonly allow: readonly string[]; readonly inject?: readonly InjectRule[] };

/** Of a deployment: the hosts that its projects may list. Absent where it is used: none. */
export type Ceiling = Network | 'any host';

export type HostPattern = {
  /** In lower case, without a final dot. */
  readonly host: string;
  /** The names below `host`. */
  readonly isWildcard: boolean;
  readonly port?: number;
};

export type Endpoint = { readonly host: string; readonly port: number };

const label = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const namePattern = new RegExp(`^${label}(?:\\.${label})*$`);
const patternSyntax = /^(\*\.)?(\[[0-9a-f:.]+\]|[^\s:[\]/@?#*]+)(?::([1-9][0-9]{0,4}))?$/;
const portMax = 65_535;

export const hostPatternRule =
  'must be a host name, *. and a host name, or either with : and a port, such as packages.example.org';

/** Undefined for a text that is no pattern. */
export const parseHostPattern = (text: string): HostPattern | undefined => {
  if (text.length > hostPatternCharactersMax) return undefined;
  const [, star, written = '', digits] = patternSyntax.exec(text.toLowerCase()) ?? [];
  const host = hostOf(written);
  const port = digits === undefined ? undefined : Number(digits);
  if (host === undefined || (port !== undefined && port > portMax)) return undefined;
  const isWildcard = star !== undefined;
  if (isWildcard && (isNumeric(host) || host.includes(':'))) return undefined;
  return { host, isWildcard, ...(port === undefined ? {} : { port }) };
};

/** In lower case, without brackets and the final dot; undefined when it is neither a name nor an address as it is written. */
const hostOf = (written: string): string | undefined => {
  const host = written.toLowerCase().replace(/\.$/, '');
  if (host.startsWith('[')) {
    const bare = host.slice(1, -1);
    return host.endsWith(']') && parseAddress(bare) !== undefined ? bare : undefined;
  }
  if (isNumeric(host)) return parseAddress(host) === undefined ? undefined : host;
  return namePattern.test(host) ? host : undefined;
};

/** True for a host that resolvers and libraries may read as a number: its last label begins like one (WHATWG URL, 3.5). */
const isNumeric = (host: string): boolean => {
  const last = host.slice(host.lastIndexOf('.') + 1);
  return /^(?:[0-9]+|0x[0-9a-f]*)$/.test(last);
};

export type EgressRefusal = 'no network' | 'not a host' | 'not listed';

/** Every policy must allow the endpoint: the sandbox's, its project's and the operator's. Undefined: it is allowed. */
export const refuseEgress = (
  policies: readonly (Ceiling | undefined)[],
  { host: written, port }: Endpoint,
): EgressRefusal | undefined => {
  const host = hostOf(written);
  if (host === undefined || port < 1 || port > portMax) return 'not a host';
  if (policies.length === 0) return 'no network';
  for (const policy of policies) {
    if (policy === 'any host') continue;
    if (policy === undefined) return 'no network';
    const patterns = policy.allow.map(parseHostPattern);
    if (!patterns.some((pattern) => pattern !== undefined && matches(pattern, { host, port })))
      return 'not listed';
  }
  return undefined;
};

const matches = (pattern: HostPattern, { host, port }: Endpoint): boolean =>
  (pattern.port === undefined || pattern.port === port) && matchesHost(pattern, host);

const matchesHost = ({ host: listed, isWildcard }: HostPattern, host: string): boolean =>
  isWildcard ? host.endsWith(`.${listed}`) : sameHost(listed, host);

/** An IPv6 address has several spellings, and all of them mean the same. */
const sameHost = (one: string, other: string): boolean =>
  one === other ||
  (one.includes(':') &&
    other.includes(':') &&
    parseAddress(one)?.join('.') === parseAddress(other)?.join('.'));

/** The patterns that the ceiling does not cover: a network may only narrow what is above it. */
export const beyondCeiling = (network: Network, ceiling: Ceiling | undefined): readonly string[] => {
  if (ceiling === 'any host') return [];
  const above = (ceiling?.allow ?? []).flatMap((text) => parseHostPattern(text) ?? []);
  return network.allow.filter((text) => {
    const pattern = parseHostPattern(text);
    return pattern === undefined || !above.some((upper) => covers(upper, pattern));
  });
};

const covers = (upper: HostPattern, pattern: HostPattern): boolean => {
  if (upper.port !== undefined && upper.port !== pattern.port) return false;
  if (!pattern.isWildcard) return matchesHost(upper, pattern.host);
  return upper.isWildcard && (upper.host === pattern.host || pattern.host.endsWith(`.${upper.host}`));
};

/** The same patterns and rules, whatever their order and case. */
export const isSameNetwork = (one: Network | undefined, other: Network | undefined): boolean =>
  keyOf(one) === keyOf(other);

const keyOf = (network: Network | undefined): string =>
  network === undefined
    ? ''
    : JSON.stringify([
        [...new Set(network.allow.map((text) => text.toLowerCase()))].sort(),
        (network.inject ?? []).map(keyOfRule).sort(),
      ]);

/** Equal for equal rules: hosts and headers have no case. */
export const keyOfRule = ({ host, header, secret }: InjectRule): string =>
  [host.toLowerCase(), header.toLowerCase(), secret].join(' ');
