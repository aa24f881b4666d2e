/** Public addresses, checked against Node's own reading of addresses and ranges. */

import { BlockList, isIPv4, isIPv6 } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isPublicAddress, parseAddress } from './ip-address.ts';

const blocked = new BlockList();
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const)
  blocked.addSubnet(net, bits, 'ipv4');

const publicIpv6 = new BlockList();
publicIpv6.addSubnet('2000::', 3, 'ipv6');
const special = new BlockList();
for (const [net, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['3fff::', 20],
] as const)
  special.addSubnet(net, bits, 'ipv6');

/** Half of them close to the border of a range. */
const ipv4 = fc.oneof(
  fc.ipV4(),
  fc
    .tuple(
      fc.constantFrom('0', '10', '100', '127', '169', '172', '192', '198', '203', '224'),
      fc.constantFrom('0', '16', '18', '31', '51', '63', '64', '88', '127', '128', '168', '254'),
      fc.constantFrom('0', '2', '99', '100', '113', '255'),
      fc.nat(255),
    )
    .map((parts) => parts.join('.')),
);
const hex = (group: number): string => group.toString(16);

test('an IPv4 address is public when it is in no range of the registry', () => {
  fc.assert(
    fc.property(ipv4, (address) => {
      expect(isPublicAddress(address)).toBe(!blocked.check(address, 'ipv4'));
    }),
  );
});

test('an IPv6 address is public when it is global unicast and in no special range', () => {
  const start = fc.constantFrom(
    '2001:',
    '2001:1ff:',
    '2001:200:',
    '2001:db8:',
    '3fff:',
    '3fff:1000:',
    'fd00:',
  );
  const ipv6 = fc.oneof(
    fc.ipV6(),
    fc.tuple(start, fc.nat(0xffff)).map(([head, tail]) => `${head}:${hex(tail)}`),
  );
  fc.assert(
    fc.property(ipv6, (address) => {
      const carried = /^(::ffff|64:ff9b|2002)/i.test(address);
      fc.pre(!carried);
      const expected = publicIpv6.check(address, 'ipv6') && !special.check(address, 'ipv6');
      expect(isPublicAddress(address)).toBe(expected);
    }),
  );
});

test('an address that contains an IPv4 one is as public as that, in every spelling', () => {
  fc.assert(
    fc.property(ipv4, (address) => {
      const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
      const [high, low] = [hex(a * 256 + b), hex(c * 256 + d)];
      const spellings = [
        `::ffff:${address}`,
        `::FFFF:${high}:${low}`,
        `0:0:0:0:0:ffff:${address}`,
        `64:ff9b::${address}`,
        `64:ff9b::${high}:${low}`,
        `2002:${high}:${low}::1`,
      ];
      const expected = isPublicAddress(address);
      expect(spellings.map(isPublicAddress)).toEqual(spellings.map(() => expected));
    }),
  );
});

test('a text is an address exactly when Node says so', () => {
  const text = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.ipV4Extended(),
    fc.string({ unit: fc.constantFrom(':', '.', '0', '1', '9', 'f', '::'), maxLength: 16 }),
  );
  fc.assert(
    fc.property(text, (candidate) => {
      expect(parseAddress(candidate) !== undefined).toBe(isIPv4(candidate) || isIPv6(candidate));
    }),
    { numRuns: 2000 },
  );
});
