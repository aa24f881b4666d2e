/**
 * An IP address as its bytes: 4 of them, or 16.
 *
 * IPv4 is read in the plain dotted form only: an octet with a leading zero is octal to some resolvers. IPv6 is
 * read in every form of RFC 4291, section 2.2; one with a zone (RFC 4007) has a meaning on one machine only and
 * is not read. Unreadable text is `undefined`, and no caller may take that for an address.
 */
export type AddressBytes = readonly number[];

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
