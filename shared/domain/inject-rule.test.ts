import { expect, test } from 'vitest';
import { isSameNetwork } from './egress-policy.ts';
import {
  hasRepeatedRule,
  isHeaderValue,
  isInjectableHeader,
  parseInjectHost,
  rulesBeyond,
  rulesFor,
  rulesOfBoth,
  unlistedHosts,
  withRulesOf,
} from './inject-rule.ts';

const rule = (host: string, header = 'authorization', secret = 'KEY') => ({ host, header, secret });

test('a host is exact, with or without a port', () => {
  for (const host of ['api.example.org', 'api.example.org:8443', '192.0.2.1', '[2001:db8::1]:443'])
    expect([host, parseInjectHost(host) !== undefined]).toEqual([host, true]);
  for (const host of ['*.example.org', '*', 'a b', 'http://a.org', '127.1', ''])
    expect([host, parseInjectHost(host)]).toEqual([host, undefined]);
});

test('headers of the connection and of its target cannot be set', () => {
  for (const name of ['Authorization', 'x-api-key', 'cookie']) expect(isInjectableHeader(name)).toBe(true);
  for (const name of [
    'Host',
    'connection',
    'Content-Length',
    'proxy-authorization',
    'sec-x',
    'a b',
    'a:b',
    '',
  ])
    expect([name, isInjectableHeader(name)]).toEqual([name, false]);
});

test('a value with a line break would be a second header', () => {
  expect(['Bearer abc', 'a\tb', 'é'].map(isHeaderValue)).toEqual([true, true, true]);
  expect(['a\r\nb: c', 'a\n', 'a\0b', '€'].map(isHeaderValue)).toEqual([false, false, false, false]);
});

test('a rule is for its host and its port alone', () => {
  const rules = [rule('a.org'), rule('a.org:8443', 'x-key'), rule('b.org')];
  const headersFor = (host: string, port: number) =>
    rulesFor(rules, { host, port }).map(({ header }) => header);
  expect(headersFor('A.org.', 443)).toEqual(['authorization']);
  expect(headersFor('a.org', 8443)).toEqual(['authorization', 'x-key']);
  expect(headersFor('sub.a.org', 443)).toEqual([]);
});

test('a rule that names the port holds before one for all ports, in whichever order they are given', () => {
  const rules = [rule('a.org', 'x-key', 'ALL'), rule('a.org:443', 'X-Key', 'ONE')];
  for (const given of [rules, rules.toReversed()]) {
    const secrets = (port: number) => rulesFor(given, { host: 'a.org', port }).map(({ secret }) => secret);
    expect([secrets(443), secrets(80)]).toEqual([['ALL', 'ONE'], ['ALL']]);
  }
});

test('one header of one host has one rule', () => {
  for (const [one, other] of [
    ['a.org', 'a.org.'],
    ['A.org.:443', 'a.org:443'],
  ] as const)
    expect(hasRepeatedRule([rule(one), rule(other, 'Authorization', 'OTHER')])).toBe(true);
  expect(hasRepeatedRule([rule('a.org'), rule('a.org:443')])).toBe(false);
  expect(hasRepeatedRule([rule('a.org'), rule('A.org', 'Authorization', 'OTHER')])).toBe(true);
  expect(hasRepeatedRule([rule('a.org'), rule('a.org', 'x-key'), rule('b.org')])).toBe(false);
});

test('a host of a rule must be listed, or one of its ports', () => {
  const inject = [rule('a.org'), rule('b.org'), rule('x.c.org')];
  expect(unlistedHosts({ allow: ['a.org:443', '*.c.org'], inject })).toEqual(['b.org']);
});

test('a network keeps the rules above for its hosts, unless it names its own (IJ1)', () => {
  const above = { allow: ['a.org', 'b.org'], inject: [rule('a.org'), rule('b.org')] };
  expect(withRulesOf({ allow: ['b.org'] }, above)).toEqual({ allow: ['b.org'], inject: [rule('b.org')] });
  expect(withRulesOf({ allow: ['b.org'], inject: [] }, above)).toEqual({ allow: ['b.org'] });
  expect(withRulesOf({ allow: ['c.org'] }, above)).toEqual({ allow: ['c.org'] });
  expect(withRulesOf({ allow: ['b.org'] }, undefined)).toEqual({ allow: ['b.org'] });
});

test('a rule is beyond the network above if its host, its header or its secret is another (IJ1)', () => {
  const above = { allow: ['a.org'], inject: [rule('a.org')] };
  const beyond = (one: ReturnType<typeof rule>) =>
    rulesBeyond({ allow: ['a.org'], inject: [one] }, above).length;
  expect(beyond(rule('A.org', 'Authorization'))).toBe(0);
  for (const other of [rule('a.org:80'), rule('a.org', 'x-key'), rule('a.org', 'authorization', 'OTHER')])
    expect(beyond(other)).toBe(1);
  expect(rulesOfBoth({ ...above, inject: [rule('a.org'), rule('a.org', 'x')] }, above)).toEqual([
    rule('a.org'),
  ]);
  expect(rulesOfBoth(above, { allow: ['a.org'] })).toEqual([]);
  expect(rulesOfBoth(undefined, above)).toEqual([]);
});

test('networks with other rules are not the same', () => {
  const one = { allow: ['a.org'], inject: [rule('a.org')] };
  expect(isSameNetwork(one, { allow: ['A.org'], inject: [rule('A.org', 'Authorization')] })).toBe(true);
  expect(isSameNetwork(one, { allow: ['a.org'] })).toBe(false);
});
