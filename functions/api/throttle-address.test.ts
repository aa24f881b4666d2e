import { expect, test } from 'vitest';
import type { ApiEvent } from './api-route.ts';
import { addressOf } from './throttle-address.ts';

const eventOf = (headers: Record<string, string>, identity: object) =>
  ({ headers, requestContext: { identity } }) as unknown as ApiEvent;

type Case = {
  readonly headers: Record<string, string>;
  readonly apiKey: string | null;
  readonly address: string;
};
const said = { 'X-Forwarded-Address': '203.0.113.9' };

test('all addresses of one IPv6 subscriber are counted as one', () => {
  const from = (sourceIp: string): string => addressOf(eventOf({}, { sourceIp, apiKey: null }));
  expect(from('2001:db8:1:2::1')).toBe(from('2001:DB8:1:2:ffff:1:2:3'));
  expect(from('2001:db8:1:2::1')).not.toBe(from('2001:db8:1:3::1'));
  expect(from('2001:db8:100:2::1')).not.toBe(from('2001:db8:1:2::1'));
});

test('an IPv4 address in an IPv6 one is counted as itself', () => {
  const from = (sourceIp: string): string => addressOf(eventOf({}, { sourceIp, apiKey: null }));
  expect(from('::ffff:203.0.113.9')).toBe('203.0.113.9');
  expect(from('::ffff:203.0.113.9')).not.toBe(from('::ffff:203.0.113.10'));
});

test.each<[string, Case]>([
  ['is the gateway’s', { headers: {}, apiKey: null, address: '198.51.100.7' }],
  ['is not what a client says', { headers: said, apiKey: null, address: '198.51.100.7' }],
  [
    'is what CloudFront says, where requests come by it alone',
    { headers: said, apiKey: 'the key of CloudFront', address: '203.0.113.9' },
  ],
])('the address of a caller %s', (_which, { headers, apiKey, address }) => {
  expect(addressOf(eventOf(headers, { sourceIp: '198.51.100.7', apiKey }))).toBe(address);
});
