import { expect, test } from 'vitest';
import { endpointOf, hostsReached, verdictOf } from './egress-summary.ts';

const event = (at: string, data: Record<string, unknown>, type = 'egress') => ({ type, at, data });
const bytes = { bytesIn: 10, bytesOut: 1 };

test('events are joined by host, port and verdict, the latest first', () => {
  const hosts = hostsReached([
    event('1', { host: 'a.org', port: 443, allowed: true, ...bytes, connections: 2 }),
    event('2', { host: 'b.org', port: 80, allowed: false, ...bytes }),
    event('3', { host: 'a.org', port: 443, allowed: true, ...bytes, connections: 3 }),
    event('4', { text: 'hello' }, 'message'),
    event('5', { host: 7 }),
  ]);
  expect(hosts.map(({ host, at, bytesIn, connections }) => [host, at, bytesIn, connections])).toEqual([
    ['a.org', '3', 20, 5],
    ['b.org', '2', 10, 1],
  ]);
});

test('a host is named with its port, and its verdict in words', () => {
  const [over] = hostsReached([event('1', { host: '2001:db8::1', port: 443, isOverLimit: true, ...bytes })]);
  expect(over && [endpointOf(over), verdictOf(over)]).toEqual(['[2001:db8::1]:443', 'over the limit']);
  expect(endpointOf({ host: '*', port: 0 })).toBe('other hosts');
});
