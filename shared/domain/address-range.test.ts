import { expect, test } from 'vitest';
import { isInRange } from './address-range.ts';

test.each([
  ['10.42.0.0', '10.42.0.0/16'],
  ['10.42.255.255', '10.42.0.0/16'],
  ['10.42.7.9', '10.42.200.1/16'],
  ['127.77.3.4', '127.77.0.0/16'],
  ['192.168.1.1', '192.168.1.1/32'],
  ['255.255.255.255', '128.0.0.0/1'],
  ['8.8.8.8', '0.0.0.0/0'],
  ['10.0.0.5', '10.0.0.4/30'],
])('%s is in %s', (address, cidr) => {
  expect(isInRange(address, cidr)).toBe(true);
});

test.each([
  ['10.41.255.255', '10.42.0.0/16'],
  ['10.43.0.0', '10.42.0.0/16'],
  ['192.168.1.2', '192.168.1.1/32'],
  ['127.255.255.255', '128.0.0.0/1'],
  ['169.254.169.254', '10.42.0.0/16'],
  ['10.0.0.8', '10.0.0.4/30'],
])('%s is not in %s', (address, cidr) => {
  expect(isInRange(address, cidr)).toBe(false);
});

test.each([
  '',
  '10.42.0',
  '10.42.0.256',
  '10.042.0.1',
  '0x0a.42.0.1',
  '172621825',
  '::ffff:10.42.0.1',
  '10.42.0.1 ',
])('what is no plain IPv4 address is in no range: "%s"', (address) => {
  expect(isInRange(address, '0.0.0.0/0')).toBe(false);
});

test.each([
  '',
  '10.42.0.0',
  '10.42.0.0/',
  '10.42.0.0/33',
  '10.42.0.0/-1',
  '10.42.0.0/16/8',
  '10.42.0.0/ 8',
  '/0',
])('a range that cannot be read holds nothing: "%s"', (cidr) => {
  expect(isInRange('10.42.0.1', cidr)).toBe(false);
});

test.each([
  ['2001:db8::1', '2001:db8::/32'],
  ['2001:1ff:ffff::', '2001::/23'],
  ['::1', '::1/128'],
  ['ffff::', '::/0'],
  ['::ffff:10.0.0.1', '::ffff:0:0/96'],
])('IPv6: %s is in %s', (address, cidr) => {
  expect(isInRange(address, cidr)).toBe(true);
});

test.each([
  ['2001:db9::', '2001:db8::/32'],
  ['2001:200::', '2001::/23'],
  ['::2', '::1/128'],
  ['::1', '::1/129'],
  ['10.0.0.1', '::/0'],
  ['::10.0.0.1', '0.0.0.0/0'],
])('IPv6: %s is not in %s', (address, cidr) => {
  expect(isInRange(address, cidr)).toBe(false);
});
