/**
 * Addresses at which a server that a user registered may be: public ones, or those the operator has named.
 *
 * Refused is everything that the registries of special-purpose addresses do not call globally reachable (RFC
 * 6890, kept at https://www.iana.org/assignments/iana-ipv4-special-registry and …/iana-ipv6-special-registry),
 * and every IPv6 address outside 2000::/3, the only global unicast that IANA has given out. An IPv6 address that
 * carries an IPv4 one is as public as the latter.
 */
import { holds } from './address-range.ts';
import { type AddressBytes, parseAddress } from './ip-address.ts';

const refusedIpv4: readonly string[] = [
  '0.0.0.0/8', // This network (RFC 791).
  '10.0.0.0/8', // Private (RFC 1918).
  '100.64.0.0/10', // Shared by carriers (RFC 6598).
  '127.0.0.0/8', // Loopback (RFC 1122).
  '169.254.0.0/16', // Link-local, with the metadata of clouds (RFC 3927).
  '172.16.0.0/12', // Private (RFC 1918).
  '192.0.0.0/24', // Protocol assignments (RFC 6890).
  '192.0.2.0/24', // Documentation (RFC 5737).
  '192.88.99.0/24', // Relays of 6to4, deprecated (RFC 7526).
  '192.168.0.0/16', // Private (RFC 1918).
  '198.18.0.0/15', // Benchmarks (RFC 2544).
  '198.51.100.0/24', // Documentation (RFC 5737).
  '203.0.113.0/24', // Documentation (RFC 5737).
  '224.0.0.0/4', // Multicast (RFC 5771).
  '240.0.0.0/4', // Reserved, with broadcast (RFC 1112, RFC 919).
];

/** The rest of what is refused (::, ::1, ::/96, 64:ff9b:1::/48, fc00::/7, fe80::/10, ff00::/8 …) is outside of it. */
const globalUnicast = '2000::/3';
const refusedIpv6: readonly string[] = [
  '2001::/23', // Protocol assignments: Teredo, benchmarks, ORCHID (RFC 2928).
  '2001:db8::/32', // Documentation (RFC 3849).
  '3fff::/20', // Documentation (RFC 9637).
];

/** First byte of the IPv4 address that an IPv6 address of the range carries. */
const carriers: readonly { readonly range: string; readonly at: number }[] = [
  { range: '::ffff:0:0/96', at: 12 }, // Mapped: the socket is an IPv4 one (RFC 4291).
  { range: '64:ff9b::/96', at: 12 }, // Translated (RFC 6052).
  { range: '2002::/16', at: 2 }, // 6to4 (RFC 3056).
];

/** Text that is no address, or has a zone, is not public. */
export const isPublicAddress = (address: string): boolean => {
  const bytes = parseAddress(address);
  return bytes !== undefined && isPublic(bytes);
};

const isPublic = (bytes: AddressBytes): boolean => {
  if (bytes.length === 4) return !refusedIpv4.some((range) => holds(range, bytes));
  const carrier = carriers.find(({ range }) => holds(range, bytes));
  if (carrier !== undefined) return isPublic(bytes.slice(carrier.at, carrier.at + 4));
  return holds(globalUnicast, bytes) && !refusedIpv6.some((range) => holds(range, bytes));
};

/** `localhost` and all names below it are this machine (RFC 6761, section 6.3), even where a resolver knows none. */
export const isLocalName = (host: string): boolean => /(?:^|\.)localhost\.?$/i.test(host);

export type Endpoint = {
  /** The host as in a URL: an IPv6 address stands in brackets. */
  readonly host: string;
  readonly port: number;
};

const entryPattern = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::([0-9]{1,5}))?$/i;

/** True when one of `entries` (`host` or `host:port`) names the endpoint, by the host as it was written. */
export const isNamed = (entries: readonly string[], endpoint: Endpoint): boolean =>
  entries.some((entry) => {
    const [, host = '', port] = entryPattern.exec(entry.trim()) ?? [];
    if (host === '' || hostKey(host) !== hostKey(endpoint.host)) return false;
    return port === undefined || Number(port) === endpoint.port;
  });

/** One key for all spellings of a host. */
const hostKey = (host: string): string => {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  return parseAddress(bare)?.join('.') ?? bare.replace(/\.$/, '');
};
