/** Refusals of rates: a client that obeys `retry-after` comes back when it may succeed. */
import { expect, test } from 'vitest';
import { openQuietPorts } from '../../tests/simulation/quiet-ports.ts';
import type { ApiEvent } from './api-route.ts';
import { answerOAuth, type OAuth } from './oauth-routes.ts';

const registrationAt = async (mayAsk: boolean) => {
  const { ports: quiet } = openQuietPorts();
  const ports = {
    ...quiet,
    rateLimiter: { take: async () => mayAsk },
    clients: { register: async () => false },
  } as unknown as OAuth['ports'];
  const event = {
    ...{ httpMethod: 'POST', path: '/oauth/register', resource: '/oauth/register' },
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'a client', redirect_uris: ['https://client.example/callback'] }),
    requestContext: { identity: { sourceIp: '198.51.100.7' } },
  } as unknown as ApiEvent;
  const { statusCode, headers } = await answerOAuth({ ports, publicUrl: undefined, isOn: true }, event);
  return [statusCode, headers['retry-after']];
};

test('a registration over the rate of a second comes back in a second, one over that of an hour in an hour', async () => {
  expect(await registrationAt(false)).toEqual([429, '1']);
  expect(await registrationAt(true)).toEqual([429, '3600']);
});
