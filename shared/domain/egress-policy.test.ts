import { describe, expect, test } from 'vitest';
import { beyondCeiling, isSameNetwork, parseHostPattern, refuseEgress } from './egress-policy.ts';

const list = (...allow: readonly string[]) => ({ allow });

describe('a pattern', () => {
  test.each([
    ['packages.example.org', { host: 'packages.example.org', isWildcard: false }],
    ['*.Example.com', { host: 'example.com', isWildcard: true }],
    ['git.example.net:443', { host: 'git.example.net', isWildcard: false, port: 443 }],
    ['*.example.com:8443', { host: 'example.com', isWildcard: true, port: 8443 }],
    ['example.org.', { host: 'example.org', isWildcard: false }],
    ['localhost', { host: 'localhost', isWildcard: false }],
    ['203.0.113.7:80', { host: '203.0.113.7', isWildcard: false, port: 80 }],
    ['[2001:db8::1]:80', { host: '2001:db8::1', isWildcard: false, port: 80 }],
  ])('%s is read', (text, pattern) => {
    expect(parseHostPattern(text)).toEqual(pattern);
  });

  test.each([
    ...['', '*', '*.', '.example.org', 'a..b', 'http://a.org', 'a.org/x', 'user@a.org', 'a org', 'a.org:0'],
    ...['a.org:65536', 'a.org:', 'a*.org', '*.*.org', '-a.org', 'a-.org', 'ä.org', '%61.org', 'a.org\n'],
    ...['2130706433', '0x7f.1', '127.1', '0177.0.0.1', '*.1.2.3.4', '[::1', '::1', '*.[::1]'],
    `${'a'.repeat(64)}.org`,
    `${'a.'.repeat(150)}org`,
  ])('%j is refused', (text) => {
    expect(parseHostPattern(text)).toBeUndefined();
  });
});

describe('an endpoint (EG2)', () => {
  const policies = [list('a.org', '*.b.org', 'c.org:443', '10.0.0.1')];

  test.each([
    ['a.org', 80],
    ['A.ORG', 8080],
    ['a.org.', 443],
    ['x.b.org', 443],
    ['x.y.b.org', 443],
    ['c.org', 443],
    ['10.0.0.1', 80],
  ])('%s:%i is allowed', (host, port) => {
    expect(refuseEgress(policies, { host, port })).toBeUndefined();
  });

  test.each([
    ['b.org', 443, 'not listed'],
    ['xb.org', 443, 'not listed'],
    ['c.org', 80, 'not listed'],
    ['a.org.evil.org', 80, 'not listed'],
    ['10.0.0.2', 80, 'not listed'],
    ['a.org', 0, 'not a host'],
    ['167772161', 80, 'not a host'],
    ['10.1', 80, 'not a host'],
    ['0xa.0.0.1', 80, 'not a host'],
    ['0xa000001', 80, 'not a host'],
    ['012.0.0.1', 80, 'not a host'],
    ['10.0.0.1.', 80, undefined],
    ['a.org%00.b.org', 80, 'not a host'],
    ['a.org\t', 80, 'not a host'],
    ['', 80, 'not a host'],
    ['[::ffff:10.0.0.1]', 80, 'not listed'],
  ])('%j:%i is %s', (host, port, refusal) => {
    expect(refuseEgress(policies, { host, port })).toBe(refusal);
  });

  test('every policy must allow it, and a missing one allows nothing (EG1)', () => {
    const at = { host: 'a.org', port: 80 };
    expect(refuseEgress([list('a.org'), list('*.org')], at)).toBeUndefined();
    expect(refuseEgress([list('a.org'), list('b.org')], at)).toBe('not listed');
    expect(refuseEgress([list('a.org'), undefined], at)).toBe('no network');
    expect(refuseEgress([], at)).toBe('no network');
    expect(refuseEgress([list('a.org'), 'any host'], at)).toBeUndefined();
    expect(refuseEgress([list('b.org'), 'any host'], at)).toBe('not listed');
    expect(refuseEgress([undefined, 'any host'], at)).toBe('no network');
  });

  test('an IPv6 address is the same in every spelling', () => {
    const listed = [list('[2001:db8::1]')];
    expect(refuseEgress(listed, { host: '[2001:DB8:0::0001]', port: 1 })).toBeUndefined();
  });
});

describe('a ceiling (EG1)', () => {
  test.each([
    [list('a.org'), list('a.org')],
    [list('a.org:443'), list('a.org')],
    [list('x.b.org', '*.x.b.org', '*.b.org:443'), list('*.b.org')],
    [list('A.org'), list('a.ORG')],
    [list('*.org', 'a.org:443', '192.0.2.1'), 'any host' as const],
  ])('%j is within %j', (network, ceiling) => {
    expect(beyondCeiling(network, ceiling)).toEqual([]);
  });

  test.each([
    [list('a.org', 'b.org'), list('a.org'), ['b.org']],
    [list('a.org'), list('a.org:443'), ['a.org']],
    [list('b.org', '*.org', '*.b.org'), list('*.b.org'), ['b.org', '*.org']],
    [list('*.a.org'), list('a.org'), ['*.a.org']],
    [list('a.org'), undefined, ['a.org']],
    [list('no host!'), list('*.org'), ['no host!']],
  ])('of %j, %j does not cover %j', (network, ceiling, beyond) => {
    expect(beyondCeiling(network, ceiling)).toEqual(beyond);
  });
});

test('two networks are the same whatever their order and case', () => {
  expect(isSameNetwork(list('a.org', 'B.org'), list('b.org', 'a.org'))).toBe(true);
  expect(isSameNetwork(list('a.org'), undefined)).toBe(false);
  expect(isSameNetwork(undefined, undefined)).toBe(true);
});
