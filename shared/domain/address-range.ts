/**
 * CIDR blocks, IPv4 and IPv6: whether an address lies in one. The checks of where to connect are made of them.
 *
 * An address of the other family is not in the block, and an IPv4 address inside an IPv6 one counts as IPv6. A
 * name, a zone or an octet with a leading zero is no address; a range that cannot be read contains nothing.
 */
import { type AddressBytes, parseAddress } from './ip-address.ts';

export const isInRange = (address: string, cidr: string): boolean => {
  const bytes = parseAddress(address);
  return bytes !== undefined && holds(cidr, bytes);
};

export const holds = (cidr: string, address: AddressBytes): boolean => {
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
