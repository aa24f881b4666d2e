import { describe, expect, test } from 'vitest';
import { isInRange, isLocalName, isNamed, isPublicAddress } from './ip-address.ts';

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
])('an invalid IPv4 address is in no range: "%s"', (address) => {
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
])('an invalid range contains nothing: "%s"', (cidr) => {
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

test.each([
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2606:4700:4700::1111',
  '2001:200::1',
  '2001:DB7:ffff::',
  '2620:4f:8000::1',
  '::ffff:8.8.8.8',
  '0:0:0:0:0:FFFF:0808:0808',
  '64:ff9b::8.8.8.8',
  '2002:808:808::1',
])('%s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test.each([
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '100.64.0.1',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.170',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.0.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
])('IPv4 %s is not public', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each([
  '::',
  '::1',
  '0000:0000:0000:0000:0000:0000:0000:0001',
  '::8.8.8.8',
  '64:ff9b:1::8.8.8.8',
  '64:ff9b::10.0.0.1',
  '64:ff9b::a9fe:a9fe',
  '::ffff:127.0.0.1',
  '::FFFF:7F00:1',
  '::ffff:0:127.0.0.1',
  '100::1',
  '2001::1',
  '2001:2::1',
  '2001:10::1',
  '2001:1ff:ffff::',
  '2001:db8::1',
  '2002:7f00:1::',
  '2002:a9fe:a9fe::1',
  '3fff::1',
  '3fff:fff:ffff::1',
  '4000::1',
  '5f00::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fe80::1%eth0',
  'febf::1',
  'fec0::1',
  'ff02::1',
])('IPv6 %s is not public', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each([
  '',
  'localhost',
  '8.8.8',
  '08.8.8.8',
  '0x8.8.8.8',
  '134744072',
  ' 8.8.8.8',
  '8.8.8.8%eth0',
  '2606:4700::1111%eth0',
  '[2606:4700::1111]',
  '2606:4700:::1111',
  '2606::4700::1111',
  '2606:4700:1111',
  '1:2:3:4:5:6:7:8:9',
  '1:2:3:4:5:6:7::8',
  '2606:2:3:4::5:6:7:8',
  '2606:4700::12345',
  '2606:8.8.8.8::1',
  ':2606::1',
])('an invalid address is not public: "%s"', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each(['localhost', 'LOCALHOST.', 'app.localhost', 'a.b.localhost.'])('%s is this machine', (host) => {
  expect(isLocalName(host)).toBe(true);
});

test.each(['localhost.example.com', 'mylocalhost', 'localhost..', ''])('"%s" is another machine', (host) => {
  expect(isLocalName(host)).toBe(false);
});

describe('a host named by the operator', () => {
  test.each([
    ['localhost', 'localhost', 80],
    ['localhost', 'localhost', 9000],
    ['localhost:9000', 'localhost', 9000],
    ['LocalHost', 'localhost.', 80],
    ['mcp.internal', 'MCP.internal', 443],
    ['10.0.0.7:8080', '10.0.0.7', 8080],
    ['[::1]:8080', '[::1]', 8080],
    ['[0:0::0:1]', '[::1]', 8080],
    [' localhost ', 'localhost', 80],
  ])('%s names %s:%d', (entry, host, port) => {
    expect(isNamed(['other', entry], { host, port })).toBe(true);
  });

  test.each([
    ['localhost:9000', 'localhost', 9001],
    ['localhost', '127.0.0.1', 80],
    ['internal', 'mcp.internal', 80],
    ['mcp.internal', 'mcp.internal.example.com', 80],
    ['', '', 80],
    ['*', 'localhost', 80],
    ['http://localhost', 'localhost', 80],
    ['10.0.0.7', '10.0.0.70', 80],
  ])('%s does not name %s:%d', (entry, host, port) => {
    expect(isNamed([entry], { host, port })).toBe(false);
  });
});
