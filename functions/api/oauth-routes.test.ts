/** Registrations: what a client may leave out, and refusals of rates: one that obeys `retry-after` comes back when it may succeed. */
import { expect, test } from 'vitest';
import { openQuietPorts } from '../../tests/simulation/quiet-ports.ts';
import type { ApiEvent } from './api-route.ts';
import { answerOAuth, type OAuth } from './oauth-routes.ts';

const registration = { client_name: 'a client', redirect_uris: ['https://client.example/callback'] };

const register = async (body: object, mayRegister: boolean, mayAsk = true) => {
  const { ports: quiet } = openQuietPorts();
  const ports = {
    ...quiet,
    rateLimiter: { take: async () => mayAsk },
    clients: { register: async () => mayRegister },
  } as unknown as OAuth['ports'];
  const event = {
    ...{ httpMethod: 'POST', path: '/oauth/register', resource: '/oauth/register' },
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    requestContext: { identity: { sourceIp: '198.51.100.7' } },
  } as unknown as ApiEvent;
  return answerOAuth({ ports, publicUrl: undefined, isOn: true }, event);
};

const refusalAt = async (mayAsk: boolean) => {
  const { statusCode, headers } = await register(registration, false, mayAsk);
  return [statusCode, headers['retry-after']];
};

test('a registration over the rate of a second comes back in a second, one over that of an hour in an hour', async () => {
  expect(await refusalAt(false)).toEqual([429, '1']);
  expect(await refusalAt(true)).toEqual([429, '3600']);
});

test('a name that is null counts as absent, and addresses that are null are refused by name', async () => {
  const named = await register({ ...registration, client_name: null, logo_uri: null }, true);
  expect([named.statusCode, JSON.parse(String(named.body))]).toMatchObject([
    201,
    { client_name: 'An MCP client' },
  ]);
  const { statusCode, body } = await register({ ...registration, redirect_uris: null }, true);
  expect([statusCode, JSON.parse(String(body))]).toMatchObject([400, { error: 'invalid_redirect_uri' }]);
});
