/**
 * Whether an IPv4 address lies in a CIDR block: the link's own check of where it may connect.
 *
 * Only the plain dotted form is an address: a name, IPv6, or an octet with a leading zero (octal to some
 * resolvers) is in no range. A range that cannot be read holds nothing.
 */
const octet = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const addressPattern = new RegExp(`^${octet}(?:\\.${octet}){3}$`);
const addressBits = 32;

export const isInRange = (address: string, cidr: string): boolean => {
  const [base = '', length = '', ...rest] = cidr.split('/');
  if (rest.length > 0 || !/^(?:3[0-2]|[12]?[0-9])$/.test(length)) return false;
  if (!addressPattern.test(address) || !addressPattern.test(base)) return false;
  // Division, because a shift by 32 is a shift by 0 in JavaScript.
  const blockSize = 2 ** (addressBits - Number(length));
  return Math.floor(toNumber(address) / blockSize) === Math.floor(toNumber(base) / blockSize);
};

const toNumber = (address: string): number =>
  address.split('.').reduce((number, part) => number * 256 + Number(part), 0);
