/**
 * IP addresses: parsed to 4 bytes or 16, their CIDR blocks, and the addresses and names that are public.
 *
 * IPv4 is read in the plain dotted form only: an octet with a leading zero is octal to some resolvers. IPv6 is
 * read in every form of RFC 4291, section 2.2; one with a zone (RFC 4007) has a meaning on one machine only and
 * is not read. Unreadable text is `undefined`, and no caller may take that for an address.
 */

type AddressBytes = readonly number[];

const octet = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const dottedPattern = new RegExp(`^${octet}(?:\\.${octet}){3}$`);
const groupPattern = /^[0-9a-f]{1,4}$/i;
const groupCount = 8;

export const parseAddress = (text: string): AddressBytes | undefined =>
  text.includes(':') ? parseIpv6(text) : parseIpv4(text);

const parseIpv4 = (text: string): AddressBytes | undefined =>
  dottedPattern.test(text) ? text.split('.').map(Number) : undefined;

const parseIpv6 = (text: string): AddressBytes | undefined => {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head = '', tail] = halves;
  // Only the last group of the whole address may be IPv4.
  const left = groupsOf(head, tail === undefined);
  const right = tail === undefined ? [] : groupsOf(tail, true);
  if (left === undefined || right === undefined) return undefined;
  const missing = groupCount - left.length - right.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const groups = [...left, ...Array.from({ length: missing }, () => 0), ...right];
  return groups.flatMap((group) => [group >> 8, group & 0xff]);
};

const groupsOf = (text: string, mayEndInIpv4: boolean): readonly number[] | undefined => {
  if (text === '') return [];
  const parts = text.split(':');
  const last = mayEndInIpv4 ? parseIpv4(parts.at(-1) ?? '') : undefined;
  const plain = last === undefined ? parts : parts.slice(0, -1);
  if (!plain.every((part) => groupPattern.test(part))) return undefined;
  const groups = plain.map((part) => Number.parseInt(part, 16));
  if (last === undefined) return groups;
  const [a = 0, b = 0, c = 0, d = 0] = last;
  return [...groups, a * 256 + b, c * 256 + d];
};

/**
 * True when an address lies in a CIDR block. One of the other family does not, and an IPv4 address inside an IPv6 one counts
 * as IPv6. A range that cannot be read contains nothing.
 */
export const isInRange = (address: string, cidr: string): boolean => {
  const bytes = parseAddress(address);
  return bytes !== undefined && holds(cidr, bytes);
};

const holds = (cidr: string, address: AddressBytes): boolean => {
  const [base = '', length = '', ...rest] = cidr.split('/');
  const from = parseAddress(base);
  if (rest.length > 0 || !/^(?:0|[1-9][0-9]{0,2})$/.test(length)) return false;
  if (from === undefined || from.length !== address.length) return false;
  const prefixBits = Number(length);
  if (prefixBits > from.length * 8) return false;
  return from.every((byte, index) => {
    const freeBits = 8 - Math.min(8, Math.max(0, prefixBits - index * 8));
    return byte >> freeBits === (address[index] ?? 0) >> freeBits;
  });
};

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

const networkBytes = 8;

/**
 * The part of a caller's address by which requests are counted. An IPv6 address counts as its /64, which one subscriber holds
 * whole (RFC 6177), unless it carries an IPv4 address: then as that one. Unreadable text counts as it is.
 */
export const countedAddress = (address: string): string => {
  const bytes = parseAddress(address);
  if (bytes === undefined) return address;
  const ipv4 = bytes.length === 4 ? bytes : carriedIpv4(bytes);
  if (ipv4 !== undefined) return ipv4.join('.');
  const network = bytes.slice(0, networkBytes).map((byte) => byte.toString(16).padStart(2, '0'));
  return `${network.join('')}/64`;
};

/** Text that is no address, or has a zone, is not public. */
export const isPublicAddress = (address: string): boolean => {
  const bytes = parseAddress(address);
  return bytes !== undefined && isPublic(bytes);
};

const carriedIpv4 = (bytes: AddressBytes): AddressBytes | undefined => {
  const carrier = carriers.find(({ range }) => holds(range, bytes));
  return carrier && bytes.slice(carrier.at, carrier.at + 4);
};

const isPublic = (bytes: AddressBytes): boolean => {
  if (bytes.length === 4) return !refusedIpv4.some((range) => holds(range, bytes));
  const ipv4 = carriedIpv4(bytes);
  if (ipv4 !== undefined) return isPublic(ipv4);
  return holds(globalUnicast, bytes) && !refusedIpv6.some((range) => holds(range, bytes));
};

/** `localhost` and all names below it are this machine (RFC 6761, section 6.3), even where a resolver knows none. */
export const isLocalName = (host: string): boolean => /(?:^|\.)localhost\.?$/i.test(host);

type Endpoint = {
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
